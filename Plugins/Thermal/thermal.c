// The collector `thermal`: how hot the machine is, and whether it is slowed down for that. A hot probe measures less than its line can do.
//
// It only reads text files below /sys, by their documentation in the kernel: Documentation/ABI/testing/sysfs-class-thermal,
// admin-guide/thermal/thermal_throttle.rst, admin-guide/pm/cpufreq.rst, hwmon/raspberrypi-hwmon.rst. README.md says what is made of them.
#define _GNU_SOURCE
#include "fieldprobe_collector.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAXIMUM_ZONES = 64, MAXIMUM_PROCESSORS = 1024 };

// MARK: Reading

/// A file's first line. Paths are relative to the folder that stands for /sys. False when it is not there, cannot be read, or is empty:
/// devices come and go, and a sensor that sleeps gives an error.
static bool read_line(int root, const char *path, char *line, size_t size) {
    int file = openat(root, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t length = read(file, line, size - 1);
    close(file);
    if (length <= 0) return false;
    line[length] = 0;
    line[strcspn(line, "\n")] = 0;
    return line[0] != 0;
}

typedef enum { NOTHING, NUMBER, GARBAGE } reading;

/// A file that holds one whole number. Anything more than that is garbage: half a number would be a wrong value.
static reading read_number(int root, const char *path, int64_t *number) {
    char line[64], *end;
    if (!read_line(root, path, line, sizeof line)) return NOTHING;
    errno = 0;
    *number = strtoll(line, &end, 10);
    return errno == 0 && end != line && *end == 0 ? NUMBER : GARBAGE;
}

static int by_number(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

/// The numbers of a folder's entries that are the prefix and a number, in order: the same device has the same place in every record.
static int list(int root, const char *folder, const char *prefix, int *numbers, int maximum) {
    int descriptor = openat(root, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (!entries) {
        if (descriptor >= 0) close(descriptor);
        return 0;
    }
    int count = 0;
    size_t length = strlen(prefix);
    for (struct dirent *entry; count < maximum && (entry = readdir(entries));) {
        const char *rest = entry->d_name + length;
        if (strncmp(entry->d_name, prefix, length) != 0 || !isdigit((unsigned char)*rest)) continue;
        char *end;
        long number = strtol(rest, &end, 10);
        if (*end == 0 && number < 100000) numbers[count++] = (int)number;
    }
    closedir(entries);
    qsort(numbers, (size_t)count, sizeof *numbers, by_number);
    return count;
}

// MARK: What is known of one moment

typedef struct {
    const fieldprobe_host *host;
    int root;
    bool reads_firmware;    // the configuration asks for the firmware's flags
    char voltage_alarm[80]; // file of the Raspberry Pi's voltage driver, empty without one
    // The throttling counters count since boot; what they were when a processor was first seen is subtracted.
    struct {
        bool has_count[2], has_time;
        int64_t count[2], time;
    } first[MAXIMUM_PROCESSORS];
} thermal;

/// A JSON object that grows member by member.
typedef struct {
    FILE *stream;
    char *text;
    size_t length;
    bool has_members;
} object;

static FILE *member(object *values, const char *name) {
    fprintf(values->stream, "%c\"%s\":", values->has_members ? ',' : '{', name);
    values->has_members = true;
    return values->stream;
}

/// Names of zones are the drivers' own: what JSON or UTF-8 does not take as it is becomes an underscore.
static void put_text(FILE *stream, const char *text) {
    fputc('"', stream);
    for (; *text; text++) fputc(*text < ' ' || *text > '~' || *text == '"' || *text == '\\' ? '_' : *text, stream);
    fputc('"', stream);
}

/// The kernel's millidegrees as degrees, without the way over a binary fraction.
static void put_thousandths(FILE *stream, int64_t number) {
    int64_t size = number < 0 ? -number : number;
    fprintf(stream, "%s%" PRId64 ".%03" PRId64, number < 0 ? "-" : "", size / 1000, size % 1000);
}

/// Whether there are any, be they unreadable.
static bool put_zones(thermal *self, object *values) {
    int numbers[MAXIMUM_ZONES];
    int count = list(self->root, "class/thermal", "thermal_zone", numbers, MAXIMUM_ZONES);
    struct {
        char name[64];
        int64_t temperature;
    } zones[MAXIMUM_ZONES];
    int known = 0, hottest = 0;
    uint32_t implausible = 0, garbage = 0;
    for (int index = 0; index < count; index++) {
        char path[80];
        int64_t temperature;
        snprintf(path, sizeof path, "class/thermal/thermal_zone%d/temp", numbers[index]);
        reading result = read_number(self->root, path, &temperature);
        if (result == NOTHING) continue;
        if (result == GARBAGE) {
            garbage++;
            continue;
        }
        // Sensors that are broken or off often give 0 K or the largest number: colder or hotter than any machine that still runs.
        if (temperature < -50000 || temperature > 200000) {
            implausible++;
            continue;
        }
        snprintf(path, sizeof path, "class/thermal/thermal_zone%d/type", numbers[index]);
        if (!read_line(self->root, path, zones[known].name, sizeof zones[known].name)) continue;
        zones[known].temperature = temperature;
        if (temperature > zones[hottest].temperature) hottest = known;
        known++;
    }
    if (implausible) self->host->rejected(self->host->context, "implausible", implausible);
    if (garbage) self->host->rejected(self->host->context, "not_a_number", garbage);
    if (known == 0) return count > 0;
    put_thousandths(member(values, "temperature"), zones[hottest].temperature);
    put_text(member(values, "zone"), zones[hottest].name);
    FILE *stream = member(values, "zones");
    for (int index = 0; index < known; index++) {
        fprintf(stream, "%c{\"zone\":", index ? ',' : '[');
        put_text(stream, zones[index].name);
        fputs(",\"temperature\":", stream);
        put_thousandths(stream, zones[index].temperature);
        fputc('}', stream);
    }
    fputc(']', stream);
    return true;
}

/// Whether a cooling device cools by slowing a processor down. Fans and the like are no reason for a bad measurement.
static bool slows_processor(const char *type) {
    static const char *const types[] = {"Processor", "cpufreq-", "thermal-cpufreq-", "idle-", "thermal-idle-", "intel_powerclamp"};
    for (size_t index = 0; index < sizeof types / sizeof *types; index++)
        if (strncmp(type, types[index], strlen(types[index])) == 0) return true;
    return false;
}

static void put_throttled(thermal *self, object *values) {
    int numbers[MAXIMUM_PROCESSORS];
    int count = list(self->root, "class/thermal", "cooling_device", numbers, MAXIMUM_PROCESSORS);
    bool is_known = false, is_throttled = false, is_under_voltage = false;
    for (int index = 0; index < count; index++) {
        char path[80], type[64];
        int64_t state;
        snprintf(path, sizeof path, "class/thermal/cooling_device%d/type", numbers[index]);
        if (!read_line(self->root, path, type, sizeof type) || !slows_processor(type)) continue;
        snprintf(path, sizeof path, "class/thermal/cooling_device%d/cur_state", numbers[index]);
        if (read_number(self->root, path, &state) != NUMBER) continue;
        is_known = true;
        is_throttled |= state > 0; // intel_powerclamp says -1 where it does nothing
    }
    int64_t alarm;
    bool is_voltage_known = self->voltage_alarm[0] && read_number(self->root, self->voltage_alarm, &alarm) == NUMBER;
    if (is_voltage_known) is_under_voltage = alarm != 0;
    // The flags are as old as the voltage driver's last look, at most two seconds; without that driver they would be from the boot.
    char flags[32];
    if (self->reads_firmware && is_voltage_known &&
        read_line(self->root, "devices/platform/soc/soc:firmware/get_throttled", flags, sizeof flags)) {
        char *end;
        unsigned long bits = strtoul(flags, &end, 16);
        if (*end == 0) {
            is_known = true;
            is_throttled |= (bits & 0xE) != 0; // frequency capped, throttled, soft limit of temperature
            is_under_voltage |= (bits & 1) != 0;
        }
    }
    if (is_known) fputs(is_throttled ? "true" : "false", member(values, "is_throttled"));
    if (is_voltage_known) fputs(is_under_voltage ? "true" : "false", member(values, "is_under_voltage"));
}

static void put_counters(thermal *self, object *values) {
    static const char *const names[] = {"core_throttle_count", "package_throttle_count"};
    int numbers[MAXIMUM_PROCESSORS];
    int count = list(self->root, "devices/system/cpu", "cpu", numbers, MAXIMUM_PROCESSORS);
    bool is_known = false, is_time_known = false;
    // A package's counter is in every one of its processors, so a sum would count one event many times. The most of any one is no more
    // than there were.
    int64_t most = 0, longest = 0;
    for (int index = 0; index < count; index++) {
        int processor = numbers[index];
        if (processor >= MAXIMUM_PROCESSORS) continue;
        char path[100];
        int64_t now[2] = {0}, time = 0;
        bool has[2] = {false, false};
        for (int which = 0; which < 2; which++) {
            snprintf(path, sizeof path, "devices/system/cpu/cpu%d/thermal_throttle/%s", processor, names[which]);
            has[which] = read_number(self->root, path, &now[which]) == NUMBER;
        }
        if (!has[0] && !has[1]) continue;
        snprintf(path, sizeof path, "devices/system/cpu/cpu%d/thermal_throttle/core_throttle_total_time_ms", processor);
        bool has_time = read_number(self->root, path, &time) == NUMBER;
        // Each counts from its own first reading: what was before the test is none of its.
        for (int which = 0; which < 2; which++) {
            if (!has[which] || self->first[processor].has_count[which]) continue;
            self->first[processor].has_count[which] = true;
            self->first[processor].count[which] = now[which];
        }
        if (has_time && !self->first[processor].has_time) {
            self->first[processor].has_time = true;
            self->first[processor].time = time;
        }
        is_known = true;
        is_time_known |= has_time;
        for (int which = 0; which < 2; which++)
            if (has[which] && now[which] - self->first[processor].count[which] > most) most = now[which] - self->first[processor].count[which];
        if (has_time && time - self->first[processor].time > longest) longest = time - self->first[processor].time;
    }
    if (is_known) fprintf(member(values, "throttle_count"), "%" PRId64, most);
    if (is_time_known) fprintf(member(values, "throttled_time"), "%" PRId64, longest);
}

static void put_frequency(thermal *self, object *values) {
    int numbers[MAXIMUM_PROCESSORS];
    int count = list(self->root, "devices/system/cpu/cpufreq", "policy", numbers, MAXIMUM_PROCESSORS);
    int64_t fastest = 0, limit = 0, possible = 0;
    for (int index = 0; index < count; index++) {
        char path[100];
        int64_t now, allowed, maximum;
        int head = snprintf(path, sizeof path, "devices/system/cpu/cpufreq/policy%d/", numbers[index]);
        snprintf(path + head, sizeof path - (size_t)head, "scaling_cur_freq");
        if (read_number(self->root, path, &now) == NUMBER && now > fastest) fastest = now;
        snprintf(path + head, sizeof path - (size_t)head, "scaling_max_freq");
        if (read_number(self->root, path, &allowed) != NUMBER || allowed <= 0) continue;
        snprintf(path + head, sizeof path - (size_t)head, "cpuinfo_max_freq");
        if (read_number(self->root, path, &maximum) != NUMBER || maximum <= 0) continue;
        if (possible == 0 || (double)allowed / (double)maximum < (double)limit / (double)possible) limit = allowed, possible = maximum;
    }
    if (fastest > 0) put_thousandths(member(values, "cpu_frequency"), fastest);
    if (possible > 0) put_thousandths(member(values, "cpu_frequency_limit"), limit * 100000 / possible);
}

// MARK: The course

static void look(thermal *self) {
    const fieldprobe_host *host = self->host;
    object values = {0};
    values.stream = open_memstream(&values.text, &values.length);
    if (!values.stream) return;
    bool has_zones = put_zones(self, &values);
    put_throttled(self, &values);
    put_counters(self, &values);
    put_frequency(self, &values);
    fputc('}', values.stream);
    fclose(values.stream);
    // Said with every reading, whether or not it has changed: that is for the recorder to decide.
    if (values.has_members) {
        host->record(host->context, values.text, 0);
    } else if (has_zones) {
        host->unavailable(host->context, "no_reading", "none of the thermal zones gives a temperature that can be");
    } else {
        host->unavailable(host->context, "no_hardware", "there is no thermal zone, and nothing that tells of throttling");
    }
    free(values.text);
}

/// The Raspberry Pi's voltage driver, by its name: numbers of hwmon devices change from boot to boot.
static void find_voltage_alarm(thermal *self) {
    int numbers[MAXIMUM_ZONES];
    int count = list(self->root, "class/hwmon", "hwmon", numbers, MAXIMUM_ZONES);
    for (int index = 0; index < count; index++) {
        char path[80], name[64];
        snprintf(path, sizeof path, "class/hwmon/hwmon%d/name", numbers[index]);
        if (!read_line(self->root, path, name, sizeof name) || strcmp(name, "rpi_volt") != 0) continue;
        snprintf(self->voltage_alarm, sizeof self->voltage_alarm, "class/hwmon/hwmon%d/in0_lcrit_alarm", numbers[index]);
    }
}

static int32_t bad_configuration(const fieldprobe_host *host, const char *text) {
    host->failed(host->context, "bad_configuration", text);
    return 1;
}

static int32_t collect(const fieldprobe_host *host, const fieldprobe_session *session) {
    (void)session;
    static thermal self; // a process runs one collector, once
    self.host = host;

    int64_t interval = 1000;
    const char *text = host->setting(host->context, "interval-ms");
    if (text) {
        char *end;
        interval = strtoll(text, &end, 10);
        if (end == text || *end != 0 || interval < 100 || interval > 3600000)
            return bad_configuration(host, "'interval-ms' needs a whole number from 100 to 3600000");
    }
    text = host->setting(host->context, "firmware-flags");
    if (text && strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return bad_configuration(host, "'firmware-flags' needs 'yes' or 'no'");
    self.reads_firmware = text && strcmp(text, "yes") == 0;
    text = host->setting(host->context, "sysfs");
    self.root = open(text ? text : "/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (self.root < 0) return bad_configuration(host, "'sysfs' has to name a folder such as /sys");

    find_voltage_alarm(&self);
    // The first reading at once, so that also the shortest test has one. Then one poll(2) for each: nothing is used in between.
    int32_t woken;
    do {
        look(&self);
        woken = host->wait(host->context, NULL, 0, interval * 1000000);
    } while (woken >= 0 && !(woken & FIELDPROBE_STOP));
    close(self.root);
    return woken < 0;
}

// Everything that can ever be recorded. How hot a machine is says nothing about who is near it: other_diagnostic_data.
#define FIELD(name, type, more, about) \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"privacy\":\"other_diagnostic_data\"," more "\"about\":\"" about "\"}"

static const fieldprobe_collector collector = {
    .size = sizeof collector,
    .abi = FIELDPROBE_COLLECTOR_ABI,
    .descriptor =
        "{\"name\":\"thermal\",\"version\":\"1.0\",\"trace\":\"thermal_trace\",\"about\":\"How hot the machine is, and whether it is slowed down\","
        "\"fields\":["
        // Sensors tremble: half a degree is no news. Which zone is hottest changes to and fro, so it is told and never a reason.
        FIELD("temperature", "number", "\"unit\":\"degC\",\"changes\":{\"by\":1},", "The hottest thermal zone") ","
        FIELD("zone", "text", "\"changes\":\"never\",", "Type of the hottest thermal zone, as its driver calls it") ","
        FIELD("zones", "records", "\"members\":["
            FIELD("zone", "text", "", "Type of the zone") ","
            FIELD("temperature", "number", "\"unit\":\"degC\",\"changes\":{\"by\":1},", "Its temperature")
            "],", "All thermal zones") ","
        FIELD("is_throttled", "bool", "", "A processor is slowed down to cool the machine") ","
        FIELD("is_under_voltage", "bool", "", "The supply is too weak, on a Raspberry Pi") ","
        FIELD("throttle_count", "integer", "", "Times that the most throttled processor was slowed down since the test began") ","
        FIELD("throttled_time", "integer", "\"unit\":\"ms\",\"changes\":{\"by\":1000},", "Time that it was slowed down since the test began") ","
        FIELD("cpu_frequency", "number", "\"unit\":\"MHz\",\"changes\":\"never\",", "Frequency of the fastest processor") ","
        FIELD("cpu_frequency_limit", "number", "\"unit\":\"%\",\"changes\":{\"by\":1},",
              "What the most limited processor may run at, as a share of what it can")
        "],\"configuration\":["
        "{\"name\":\"interval-ms\",\"about\":\"Milliseconds between two readings, 1000 without it\"},"
        "{\"name\":\"firmware-flags\",\"about\":\"yes reads the Raspberry Pi firmware's flags too\"},"
        "{\"name\":\"sysfs\",\"about\":\"Folder that stands for /sys, for tests\"}"
        "]}",
    .collect = collect,
};

const fieldprobe_collector *fieldprobe_collector_entry(uint32_t host_abi) {
    return host_abi == FIELDPROBE_COLLECTOR_ABI ? &collector : NULL;
}
