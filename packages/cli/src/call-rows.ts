// The filters, columns and table cells of logged calls and trigger runs, which `list` and `--follow` share.
import type { Row } from './output.ts'

export const callColumns = [
  'timestamp',
  'endpoint',
  'machineUser',
  'method',
  'path',
  'responseStatus',
  'durationMs',
  'failure',
]
export const runColumns = [
  'scheduledAt',
  'environment',
  'outcome',
  'attempts',
  'responseStatus',
  'failure',
  'isManual',
]

const getName = (value: unknown): unknown => (value as Row | null)?.['name']

/** Converts a call for a table. */
export const formatCall = (row: Row): Row => ({
  ...row,
  endpoint: getName(row['endpoint']),
  machineUser: getName(row['machineUser']),
})

/** Converts a run for a table. */
export const formatRun = (row: Row): Row => ({ ...row, environment: getName(row['environment']) })
