// Tests that a running service exposes every metric, label and label value that a dashboard or an alert uses.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type TestDatabase, createScratchDatabase } from '../kit/databases.ts'
import { panelQueries, readAlerts, readDashboards } from '../kit/observability.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { type Matcher, metricsOf, samplesOf } from '../kit/promql.ts'

let database: TestDatabase
let service: ServiceProcess
let samples: ReturnType<typeof samplesOf>

const openapi = new URL('../../../../docs/api/openapi.json', import.meta.url)
const routes = Object.keys((JSON.parse(readFileSync(openapi, 'utf8')) as { paths: object }).paths)
/** Labels that Prometheus adds. It renames labels of the service that have the same name. */
const added = ['job', 'instance']
const renamed = (label: string): string => (added.includes(label) ? `exported_${label}` : label)

beforeAll(async () => {
  database = await createScratchDatabase()
  service = await startProcess(database.url, {
    // Enable the metrics that need a bucket. The bucket itself does not exist.
    SVC_AUDIT_CHECKPOINT_SINK: 's3',
    SVC_AUDIT_CHECKPOINT_S3_ENDPOINT: 'http://127.0.0.1:9',
    SVC_AUDIT_CHECKPOINT_S3_BUCKET: 'copies',
  })
  await fetch(`${service.url}/health`)
  const read = async () => {
    samples = samplesOf(await (await fetch(`${service.healthUrl}/metrics`)).text())
    // Backends and waiting jobs are counted for the first time after the start.
    return ['svc_backends', 'svc_jobs_held'].every((name) => samples.get(name)?.length === 2)
  }
  await vi.waitUntil(read, { timeout: 120_000, interval: 200 })
})
afterAll(async () => {
  service.child.kill('SIGKILL')
  await service.exit
  await database.drop()
})

/** Returns the values of a metric label, or null if they depend on requests. */
function valuesOf(name: string, label: string): string[] | null {
  if (label === 'route') return routes
  if (label === 'status' || label === 'application') return null
  return (samples.get(name) ?? []).map((labels) => labels[label.replace('exported_', '')] ?? '')
}

/** Returns the alternatives in a matcher that match no known value. */
function unknownValues(name: string, { label, operator, value }: Matcher): string[] {
  const values = valuesOf(name, label)
  if (values === null || added.includes(label)) return []
  const alternatives = operator.endsWith('~') && !value.includes('(') ? value.split('|') : [value]
  const fits = (text: string) => (known: string) =>
    operator.endsWith('~') ? new RegExp(`^(?:${text})$`).test(known) : text === known
  return alternatives.filter((text) => !values.some(fits(text))).map((text) => `${name}{${label}="${text}"}`)
}

/** Returns the parts of an expression that the service does not expose. */
function unknownIn(expression: string): string[] {
  return metricsOf(expression).flatMap(({ name, matchers, by }) => {
    if (name === 'up') return []
    const shown = samples.get(name)
    if (shown === undefined) return [name]
    const known = new Set([...added, ...shown.flatMap((labels) => Object.keys(labels).map(renamed))])
    const used = [...matchers.map(({ label }) => label), ...by]
    return [
      ...used.filter((label) => !known.has(label)).map((label) => `${name}{${label}}`),
      ...matchers.flatMap((matcher) => unknownValues(name, matcher)),
    ]
  })
}

test('all that alerts name is there', () => {
  const unknown = readAlerts().map(({ alert, expr }) => [alert, unknownIn(expr)])
  expect(unknown.filter(([, names]) => (names as string[]).length > 0)).toEqual([])
})

test('all that dashboards name is there', () => {
  expect(panelQueries().length).toBeGreaterThan(80)
  const unknown = panelQueries().map(({ where, expr }) => [where, unknownIn(expr)])
  expect(unknown.filter(([, names]) => (names as string[]).length > 0)).toEqual([])
  for (const [, { templating }] of readDashboards())
    for (const { definition } of templating.list.slice(1))
      expect(definition).toMatch(/^label_values\(svc_build_info\b/)
})

test('what is not there is found', () => {
  expect(unknownIn('rate(svc_nothing_total[5m]) > 0')).toEqual(['svc_nothing_total'])
  expect(unknownIn('sum by (queue) (svc_jobs_waiting{lane="x"})')).toEqual([
    'svc_jobs_waiting{lane}',
    'svc_jobs_waiting{lane="x"}',
  ])
  expect(unknownIn('sum by (le, pool) (rate(svc_trigger_lag_seconds_bucket[5m]))')).toEqual([
    'svc_trigger_lag_seconds_bucket{pool}',
  ])
  expect(unknownIn('svc_trigger_runs_total{outcome=~"failed|mised"}')).toEqual([
    'svc_trigger_runs_total{outcome="mised"}',
  ])
  // Prometheus adds the label `job` and renames the label of the service.
  expect(unknownIn('sum by (exported_job) (svc_job_failures_total)')).toEqual([])
  expect(unknownIn('svc_job_failures_total{exported_job="audit-verifi"}')).toEqual([
    'svc_job_failures_total{exported_job="audit-verifi"}',
  ])
  expect(unknownIn('svc_http_request_duration_seconds_count{route!~"/exb/.*"}')).toEqual([
    'svc_http_request_duration_seconds_count{route="/exb/.*"}',
  ])
})
