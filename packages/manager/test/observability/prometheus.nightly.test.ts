// Tests a real Prometheus that scrapes processes under load, as configured in deploy/observability/. Every panel has
// plausible data, every rule can be evaluated, and no alert fires while the service is healthy.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Prometheus, type Series, startPrometheus } from '@manager/harness/engines/prometheus.ts'
import { panelQueries, readAlerts, readDashboards } from '../kit/observability.ts'
import { doWork, startObserved } from '../kit/observed-load.ts'

const loadSeconds = 40
/** Panels that have no data under this load, each with the reason. */
const mayBeEmpty = [
  // A process may receive no hints (best-effort messages) from other processes.
  'dashboards/comms.json: Lag between processes',
  // Copies exist only with a bucket (audit.checkpoint_sink).
  'dashboards/database.json: Checkpoints without a copy',
]
let observed: Awaited<ReturnType<typeof startObserved>>
let prometheus: Prometheus
let work: Awaited<ReturnType<typeof doWork>>
const shown = new Map<string, Series[]>()

/** Replaces the dashboard variables, as Grafana does when all processes are selected. */
const filled = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '10s').replaceAll('$job', 'manager').replaceAll('$instance', '.+')

beforeAll(async () => {
  observed = await startObserved()
  prometheus = await startPrometheus(observed.processes.map(({ healthUrl }) => new URL(healthUrl).host))
  work = await doWork(observed.work, observed.processes, loadSeconds)
  for (const { where, expr } of panelQueries())
    shown.set(where, await prometheus.range(filled(expr), loadSeconds - 15))
})
afterAll(async () => {
  await prometheus.close()
  await observed.close()
})

/** Returns the finite values of a panel query. NaN means that there is no data. */
const numbersOf = (where: string): number[] =>
  (shown.get(where) ?? [])
    .flatMap(({ values }) => values.map(([, value]) => Number(value)))
    .filter((value) => Number.isFinite(value))
const largest = (where: string): number => Math.max(...numbersOf(where))
/** Returns the maximum of the sum over all series. */
function total(where: string): number {
  const at = new Map<number, number>()
  for (const { values } of shown.get(where) ?? [])
    for (const [time, value] of values) at.set(time, (at.get(time) ?? 0) + Number(value))
  return Math.max(...at.values())
}

test('the load was done', () => {
  expect(work.failed).toEqual([])
  expect(Object.keys(work.done).toSorted()).toEqual(observed.work.map(({ name }) => name).toSorted())
})

test('every query of every panel has data, but for those that say why not', () => {
  const empty = [...shown.keys()].filter((where) => numbersOf(where).length === 0)
  expect(empty.filter((where) => !mayBeEmpty.some((panel) => where.startsWith(panel)))).toEqual([])
  expect(shown.size).toBeGreaterThan(80)
})

test('what panels show fits their units', () => {
  for (const [file, { panels }] of readDashboards())
    for (const { title, fieldConfig, targets = [] } of panels)
      for (const { refId } of targets) {
        const where = `${file}: ${title} ${refId}`
        const numbers = numbersOf(where)
        const unit = fieldConfig?.defaults.unit
        const most =
          unit === 'percentunit' || unit === 'bool_yes_no' ? 1 : unit === 's' ? 60 : Number.MAX_VALUE
        expect([where, numbers.filter((value) => value < 0 || value > most)]).toEqual([where, []])
      }
})

test('what panels show is of the size of the load', () => {
  const perSecond = (name: string): number => (work.done[name] ?? 0) / loadSeconds
  for (const [where, name, times] of [
    ['gateway.json: Calls by outcome A', 'call', 1],
    ['comms.json: Emits by outcome A', 'emit', 1],
    ['comms.json: Recipients A', 'emit', 20],
    ['comms.json: Publishes by outcome A', 'publish', 1],
    ['triggers.json: Heartbeats A', 'heartbeat', 1],
    ['triggers.json: Runs by outcome A', 'runs', 10],
  ] as const) {
    const rate = total(`dashboards/${where}`)
    expect([where, rate > (perSecond(name) * times) / 4, rate < perSecond(name) * times * 4]).toEqual([
      where,
      true,
      true,
    ])
  }
  expect(largest('dashboards/api.json: Memory A')).toBeGreaterThan(50e6)
  expect(largest('dashboards/api.json: Memory A')).toBeLessThan(2e9)
  expect(total('dashboards/comms.json: Open websockets A')).toBe(20)
  expect(largest('dashboards/api.json: Duration C')).toBeGreaterThan(0.0005)
  expect(numbersOf('dashboards/database.json: Audit trail is intact A').every((value) => value === 1)).toBe(
    true,
  )
  expect(numbersOf('dashboards/database.json: Database accepts writes A').every((value) => value === 1)).toBe(
    true,
  )
})

test('every rule is evaluated, and none fires', async () => {
  const rules = await prometheus.rules()
  expect(rules.map(({ name }) => name).toSorted()).toEqual(
    readAlerts()
      .map(({ alert }) => alert)
      .toSorted(),
  )
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
  expect(await prometheus.firing()).toEqual([])
})

test('a process that ends is noticed', async () => {
  const [, second] = observed.processes
  second?.child.kill('SIGKILL')
  await second?.exit
  await expect.poll(() => prometheus.pending()).toContain('ManagerInstanceDown')
})
