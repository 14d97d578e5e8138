// What an app imports: the built-in collectors, tests as sessions, and everything that their interfaces speak of.
@_exported public import CollectorCore
@_exported public import ConnectionDetail
@_exported public import DeviceRegistration
@_exported public import ExternalCollector
@_exported public import Geolocation
@_exported public import HTTPTransport
@_exported public import MeasurementModel
@_exported public import MeasurementSync
@_exported public import Neighbours
@_exported public import ProbeLog
@_exported public import QualityTests
