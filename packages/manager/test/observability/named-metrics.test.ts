// Every metric, label and label value that a dashboard or an alert names is one that a running service shows.
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
/** Those that Prometheus adds; it renames a label of the service that has the name of one of them. */
const added = ['job', 'instance']
const renamed = (label: string): string => (added.includes(label) ? `exported_${label}` : label)

beforeAll(async () => {
  database = await createScratchDatabase()
  service = await startProcess(database.url, {
    // Shows what is shown only with a bucket; nobody is there.
    SVC_AUDIT_CHECKPOINT_SINK: 's3',
    SVC_AUDIT_CHECKPOINT_S3_ENDPOINT: 'http://127.0.0.1:9',
    SVC_AUDIT_CHECKPOINT_S3_BUCKET: 'copies',
  })
  await fetch(`${service.url}/health`)
  const read = async () => {
    samples = samplesOf(await (await fetch(`${service.healthUrl}/metrics`)).text())
    // They are counted some time after the start.
    return samples.get('svc_backends')?.length === 2
  }
  await vi.waitUntil(read, { timeout: 120_000, interval: 500 })
})
afterAll(async () => {
  service.child.kill('SIGKILL')
  await service.exit
  await database.drop()
})

/** The values that a label of a metric has; null where they follow from requests. */
function valuesOf(name: string, label: string): string[] | null {
  if (label === 'route') return routes
  if (label === 'status' || label === 'application') return null
  return (samples.get(name) ?? []).map((labels) => labels[label.replace('exported_', '')] ?? '')
}

/** Each alternative of a matcher that no value fits. */
function unknownValues(name: string, { label, operator, value }: Matcher): string[] {
  const values = valuesOf(name, label)
  if (values === null || added.includes(label)) return []
  const alternatives = operator.endsWith('~') && !value.includes('(') ? value.split('|') : [value]
  const fits = (text: string) => (known: string) =>
    operator.endsWith('~') ? new RegExp(`^(?:${text})$`).test(known) : text === known
  return alternatives.filter((text) => !values.some(fits(text))).map((text) => `${name}{${label}="${text}"}`)
}

/** What an expression names and the service does not show. */
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
  // Prometheus has a label `job` of its own.
  expect(unknownIn('sum by (exported_job) (svc_job_failures_total)')).toEqual([])
  expect(unknownIn('svc_job_failures_total{exported_job="audit-verifi"}')).toEqual([
    'svc_job_failures_total{exported_job="audit-verifi"}',
  ])
  expect(unknownIn('svc_http_request_duration_seconds_count{route!~"/exb/.*"}')).toEqual([
    'svc_http_request_duration_seconds_count{route="/exb/.*"}',
  ])
})
