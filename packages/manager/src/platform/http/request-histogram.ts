// Request durations by route, method and status. A series starts with its first request.
import type { Registry } from 'prom-client'
import { createQuickHistogram } from '../quick-histogram.ts'

/** Labels of one series. */
export type RequestLabels = { route: string; method: string; status: string }

/** Returns a function that records a request in the registry. */
export function createRequestHistogram(registry: Registry): (labels: RequestLabels, seconds: number) => void {
  const createSeries = createQuickHistogram(registry, {
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its response.',
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  })
  const seriesByRoute = new Map<string, Map<string, (seconds: number) => void>>()
  return (labels, seconds) => {
    let routeSeries = seriesByRoute.get(labels.route)
    if (routeSeries === undefined) seriesByRoute.set(labels.route, (routeSeries = new Map()))
    const key = labels.method + labels.status
    let observe = routeSeries.get(key)
    if (observe === undefined) routeSeries.set(key, (observe = createSeries(labels)))
    observe(seconds)
  }
}
