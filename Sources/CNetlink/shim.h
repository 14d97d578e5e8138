// One entry to libnl (sockets, generic netlink families and groups) and to the kernel's headers that give the
// numbers which the decoders in Netlink name. No function of ours: libnl's own are imported as they are.
#pragma once
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/family.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
