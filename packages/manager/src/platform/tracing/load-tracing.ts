// Loads the span exporter if a collector is configured.
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { type Tracing, createSpanCounter, noTracing } from './tracing.ts'

type TracingSettings = {
  env: string
  shutdownTimeoutMs: number
  tracingOtlpEndpoint?: string | undefined
  tracingOtlpAuthorization?: string | undefined
  tracingServiceName: string
  tracingSampleRatio: number
  tracingMaxQueuedSpans: number
  tracingExportTimeoutMs: number
}

/** Returns tracing for these settings; throws if a collector is set but OpenTelemetry is not installed. */
export async function loadTracing(
  settings: TracingSettings,
  { log, metrics }: { log: Logger; metrics: Metrics },
): Promise<Tracing> {
  const spanCounter = createSpanCounter(metrics)
  const { tracingOtlpEndpoint: endpoint } = settings
  if (endpoint === undefined) return noTracing
  const { createOtlpTracing } = await import('./otlp-tracing.ts').catch((cause: unknown) => {
    throw new Error(
      'tracing.otlp_endpoint (SVC_TRACING_OTLP_ENDPOINT) is set, but the OpenTelemetry packages are not installed; install with optional dependencies (`npm ci`), or remove the setting',
      { cause },
    )
  })
  return createOtlpTracing({ ...createOptions(settings, endpoint), log, spans: spanCounter })
}

/** Closing takes at most a quarter of the shutdown timeout, and never more than 3 s. */
const createOptions = (settings: TracingSettings, endpoint: string) => ({
  url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
  authorization: settings.tracingOtlpAuthorization ?? null,
  serviceName: settings.tracingServiceName,
  environment: settings.env,
  sampleRatio: settings.tracingSampleRatio,
  maxQueue: settings.tracingMaxQueuedSpans,
  exportTimeoutMs: settings.tracingExportTimeoutMs,
  closeMs: Math.min(3_000, settings.shutdownTimeoutMs / 4),
})
