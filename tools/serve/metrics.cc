#include "tools/serve/metrics.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "tools/output/format.h"

namespace vit::tools::serve {
namespace {

/// A label's value: backslash, quotation mark and line end are escaped.
std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void head(std::ostream& out, const char* name, const char* type, const char* help) {
  out << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
}

void gauge(std::ostream& out, const char* name, const char* help, size_t value) {
  head(out, name, "gauge", help);
  out << name << ' ' << value << '\n';
}

std::string number(double value) {
  return formatted("%.9g", value);
}

}  // namespace

void Metrics::count_request(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  Histogram& histogram = seconds_[route];
  const auto* bound = std::ranges::lower_bound(kBounds, seconds);
  ++histogram.counts[static_cast<size_t>(bound - kBounds.begin())];
  histogram.sum += seconds;
}

void Metrics::count_images(const std::string& model, size_t images) {
  const std::lock_guard lock(mutex_);
  images_[model] += images;
}

void Metrics::count_reload(bool done) {
  const std::lock_guard lock(mutex_);
  ++reloads_[done ? 1 : 0];
}

std::string Metrics::text(const Gauges& gauges) const {
  const std::lock_guard lock(mutex_);
  std::ostringstream out;
  head(out, "vit_requests_total", "counter", "Requests that are over; 499: the client left.");
  for (const auto& [key, count] : requests_)
    out << "vit_requests_total{route=" << quoted(key.first) << ",status=\"" << key.second << "\"} "
        << count << '\n';
  head(out, "vit_request_seconds", "histogram",
       "From the first byte of a request to the last of its answer.");
  for (const auto& [route, histogram] : seconds_) {
    std::uint64_t sum = 0;
    for (size_t i = 0; i < histogram.counts.size(); ++i) {
      sum += histogram.counts[i];
      out << "vit_request_seconds_bucket{route=" << quoted(route) << ",le=\""
          << (i < kBounds.size() ? number(kBounds[i]) : "+Inf") << "\"} " << sum << '\n';
    }
    out << "vit_request_seconds_sum{route=" << quoted(route) << "} " << number(histogram.sum)
        << "\nvit_request_seconds_count{route=" << quoted(route) << "} " << sum << '\n';
  }
  head(out, "vit_images_total", "counter", "Images that a model has answered.");
  for (const auto& [model, count] : images_)
    out << "vit_images_total{model=" << quoted(model) << "} " << count << '\n';
  head(out, "vit_reloads_total", "counter", "Reloads of the models.");
  out << "vit_reloads_total{result=\"failed\"} " << reloads_[0]
      << "\nvit_reloads_total{result=\"done\"} " << reloads_[1] << '\n';
  gauge(out, "vit_queue_images", "Images that wait for a worker.", gauges.waiting);
  gauge(out, "vit_running_images", "Images that a worker has begun.", gauges.running);
  gauge(out, "vit_connections", "Open connections.", gauges.connections);
  head(out, "process_start_time_seconds", "gauge", "Start of the process, seconds since 1970.");
  out << "process_start_time_seconds "
      << number(std::chrono::duration<double>(started_.time_since_epoch()).count()) << '\n';
  return out.str();
}

}  // namespace vit::tools::serve
