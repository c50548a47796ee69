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

void Metrics::Histogram::add(double seconds) {
  const auto* bound = std::ranges::lower_bound(kBounds, seconds);
  ++counts[static_cast<size_t>(bound - kBounds.begin())];
  sum += seconds;
}

void Metrics::write(std::ostream& out, const std::string& name, const char* label,
                    const Histograms& histograms) {
  for (const auto& [key, histogram] : histograms) {
    const std::string labels = std::string("{") + label + "=" + quoted(key);
    std::uint64_t sum = 0;
    for (size_t i = 0; i < histogram.counts.size(); ++i) {
      sum += histogram.counts[i];
      out << name << "_bucket" << labels << ",le=\""
          << (i < kBounds.size() ? number(kBounds[i]) : "+Inf") << "\"} " << sum << '\n';
    }
    out << name << "_sum" << labels << "} " << number(histogram.sum) << '\n'
        << name << "_count" << labels << "} " << sum << '\n';
  }
}

void Metrics::count_request(const std::string& route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{route, status}];
  seconds_[route].add(seconds);
}

void Metrics::count_images(const std::string& model, size_t images, double seconds) {
  const std::lock_guard lock(mutex_);
  images_[model] += images;
  model_seconds_[model].add(seconds);
}

void Metrics::count_reload(bool done) {
  const std::lock_guard lock(mutex_);
  ++reloads_[done ? 1 : 0];
}

std::string Metrics::text(const Gauges& gauges) const {
  const std::lock_guard lock(mutex_);
  std::ostringstream out;
  head(out, "vit_requests_total", "counter", "Finished requests; 499: the client left.");
  for (const auto& [key, count] : requests_)
    out << "vit_requests_total{route=" << quoted(key.first) << ",status=\"" << key.second << "\"} "
        << count << '\n';
  head(out, "vit_request_seconds", "histogram",
       "From the first byte of a request to the last of its answer.");
  write(out, "vit_request_seconds", "route", seconds_);
  head(out, "vit_model_request_seconds", "histogram", "The same for the requests to each model.");
  write(out, "vit_model_request_seconds", "model", model_seconds_);
  head(out, "vit_images_total", "counter", "Images that a model has answered.");
  for (const auto& [model, count] : images_)
    out << "vit_images_total{model=" << quoted(model) << "} " << count << '\n';
  head(out, "vit_reloads_total", "counter", "Reloads of the models.");
  out << "vit_reloads_total{result=\"failed\"} " << reloads_[0]
      << "\nvit_reloads_total{result=\"done\"} " << reloads_[1] << '\n';
  gauge(out, "vit_queue_images", "Images that wait for a worker.", gauges.waiting);
  gauge(out, "vit_running_images", "Images that workers are processing.", gauges.running);
  gauge(out, "vit_connections", "Open connections.", gauges.connections);
  head(out, "vit_refused_connections_total", "counter", "Connections above --max-connections.");
  out << "vit_refused_connections_total " << gauges.refused << '\n';
  head(out, "process_start_time_seconds", "gauge", "Start of the process, seconds since 1970.");
  out << "process_start_time_seconds "
      << formatted("%.3f", std::chrono::duration<double>(started_.time_since_epoch()).count())
      << '\n';
  return out.str();
}

}  // namespace vit::tools::serve
