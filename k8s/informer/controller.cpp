#include "k8s/informer/controller.hpp"

#include "k8s/informer/metric_table.hpp"

#include <boost/system/system_error.hpp>

namespace k8s {

namespace {

double seconds(reactor::nanoseconds d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

std::string_view name_of(reconcile_outcome o) noexcept {
  switch (o) {
    case reconcile_outcome::done: return "done";
    case reconcile_outcome::requeued: return "requeued";
    case reconcile_outcome::failed: return "failed";
    case reconcile_outcome::broken: return "broken";
    case reconcile_outcome::cancelled: return "cancelled";
  }
  return "";
}

reconcile_figures::reconcile_figures(reactor::metrics* metrics, const std::string& controller) {
  if (!metrics) return;
  const reactor::metric_labels labels{{"controller", controller}};
  for (std::size_t i = 0; i < std::size(by_outcome_); ++i) {
    auto with_outcome = labels;
    with_outcome["outcome"] = name_of(static_cast<reconcile_outcome>(i));
    by_outcome_[i] = metrics->get_counter(controller_metrics::reconciles, with_outcome);
  }
  seconds_ = metrics->get_histogram(controller_metrics::seconds, labels);
  longest_seconds_ = metrics->get_gauge(controller_metrics::longest, labels);
  ready_ = metrics->get_gauge(controller_metrics::depth, labels);
  running_ = metrics->get_gauge(controller_metrics::running, labels);
}

void reconcile_figures::ended(reconcile_outcome o, reactor::nanoseconds took) {
  ++runs_;
  if (o == reconcile_outcome::failed || o == reconcile_outcome::broken) ++failures_;
  by_outcome_[static_cast<std::size_t>(o)].add();
  seconds_.observe(seconds(took));
  if (took <= longest_) return;
  longest_ = took;
  longest_seconds_.set(seconds(took));
}

void reconcile_figures::depth(std::size_t ready, std::size_t running) {
  ready_.set(static_cast<double>(ready));
  running_.set(static_cast<double>(running));
}

void log_failure(const reactor::logger& log, const std::string& key, const fault& why,
                 reactor::nanoseconds retry_in) {
  log.warning("reconcile failed", {{"key", key}, {"why", why.message()}, {"retry_in", retry_in}});
}

void log_broken(const reactor::logger& log, const std::string& key, std::exception_ptr thrown,
                reactor::nanoseconds retry_in) {
  std::string what = "an exception that is not a std::exception";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  log.error("reconcile threw", {{"key", key}, {"what", what}, {"retry_in", retry_in}});
}

bool is_cancellation(std::exception_ptr thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const boost::system::system_error& e) {
    return reactor::is_cancelled(e.code());
  } catch (...) {
    return false;
  }
}

}  // namespace k8s
