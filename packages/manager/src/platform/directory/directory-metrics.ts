import type { MetricFactory } from '../metrics.ts'

export type DirectoryMetrics = ReturnType<typeof createDirectoryMetrics>

export const createDirectoryMetrics = ({ counter, histogram }: MetricFactory) => ({
  requests: histogram(
    'svc_directory_request_duration_seconds',
    'Duration of requests to the LDAP directory by outcome: answered, failed (503), or refused (too many waiting).',
    {
      labels: { outcome: ['answered', 'failed', 'refused'] },
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    },
  ),
  ignoredEntries: counter(
    'svc_directory_entries_ignored_total',
    'Entries of the LDAP directory that were left out, because they have no UUID or the same UUID as another entry.',
  ),
})
