// Lists a month of calls to the endpoints of the demo: busy days and quiet nights, a partner outage yesterday, and
// another outage last week.
import { v7 } from 'uuid'
import type { DemoShop } from './demo-data.ts'
import type { MachineIds } from './demo-data-machine.ts'
import { type Past, type Random, createRandom } from './demo-past.ts'
import type { ApplicationSlug, MachineUserKey } from './demo-world.ts'

const [minuteMs, hourMs] = [60_000, 3_600_000]

type Header = { name: string; value: string }
/** A row of the call log, keyed by column name. */
type CallRow = {
  id: string
  created_at: string
  endpoint_id: string
  machine_user_id: string
  method: string
  path: string
  target_url: string
  response_status: number | null
  duration_ms: number
  transformed: boolean
  failure: string | null
  request_headers?: Header[]
  request_body?: string
  response_headers?: Header[]
  response_body?: string
}

type Result = { status: number; failure?: string; durationMs?: readonly [number, number] }
/** A period in which the given share of the calls fails. */
type Outage = { startHoursAgo: number; hours: number; share: number; result: Result }
type Traffic = {
  endpoint: `${ApplicationSlug} /${string}`
  caller: MachineUserKey
  method?: 'GET' | 'POST'
  /** The calls per hour at noon on a weekday, or `perRun` calls every `everyMinutes` minutes. */
  load: { perHour: number } | { everyMinutes: number; perRun: number }
  durationMs: readonly [number, number]
  isTransformed?: boolean
  hasContents?: boolean
  /** Results that sometimes replace a 200, each with its share of the calls. */
  failures: readonly (readonly [share: number, Result])[]
  outages?: readonly Outage[]
}

const timeout: Result = { status: 502, failure: 'the upstream timed out', durationMs: [30_001, 30_040] }
const refused: Result = { status: 502, failure: 'the upstream refuses connections', durationMs: [2, 9] }
const forbidden: Result = {
  status: 403,
  failure: 'the machine user has no access to this endpoint',
  durationMs: [1, 3],
}
const reply = (status: number): Result => ({ status })

const traffics: readonly Traffic[] = [
  {
    endpoint: 'shop /stock',
    caller: 'shop',
    load: { everyMinutes: 15, perRun: 4 },
    durationMs: [6, 28],
    failures: [[0.002, timeout]],
  },
  {
    endpoint: 'shop /orders',
    caller: 'shop',
    load: { perHour: 9 },
    durationMs: [18, 90],
    hasContents: true,
    failures: [
      [0.03, reply(409)],
      [0.004, timeout],
    ],
  },
  {
    endpoint: 'shop /payments',
    caller: 'shop',
    load: { perHour: 8 },
    durationMs: [120, 640],
    failures: [
      [0.02, reply(402)],
      [0.008, reply(503)],
    ],
    outages: [{ startHoursAgo: 172, hours: 3, share: 0.6, result: reply(503) }],
  },
  {
    endpoint: 'deliveries /tracking',
    caller: 'deliveries',
    method: 'GET',
    load: { perHour: 14 },
    durationMs: [80, 420],
    failures: [
      [0.03, reply(404)],
      [0.01, timeout],
    ],
    outages: [
      { startHoursAgo: 6, hours: 2, share: 0.7, result: timeout },
      { startHoursAgo: 30, hours: 1, share: 0.5, result: refused },
    ],
  },
  {
    endpoint: 'deliveries /tracking',
    caller: 'deliveries-qas',
    method: 'GET',
    load: { perHour: 1 },
    durationMs: [80, 420],
    failures: [[0.1, reply(404)]],
  },
  {
    endpoint: 'deliveries /labels',
    caller: 'deliveries',
    load: { perHour: 6 },
    durationMs: [40, 160],
    isTransformed: true,
    failures: [[0.006, { status: 502, failure: 'the upstream response is incomplete or invalid' }]],
  },
  {
    endpoint: 'billing /invoices',
    caller: 'billing',
    load: { perHour: 4 },
    durationMs: [60, 300],
    failures: [[0.01, reply(422)]],
  },
  {
    endpoint: 'billing /rates',
    caller: 'billing',
    method: 'GET',
    load: { everyMinutes: 360, perRun: 1 },
    durationMs: [30, 70],
    failures: [[0.02, refused]],
  },
  {
    endpoint: 'billing /rates',
    caller: 'ledger',
    method: 'GET',
    load: { everyMinutes: 1_440, perRun: 1 },
    durationMs: [1, 3],
    failures: [[1, forbidden]],
  },
]

/** Returns the calls in the range, in no particular order. */
export function listCalls(shop: DemoShop, ids: MachineIds, past: Past): CallRow[] {
  const random = createRandom(1)
  return traffics.flatMap((traffic) => {
    const { id, url } = ids.endpoints.get(traffic.endpoint) ?? { id: '', url: '' }
    const [application = '', path = ''] = traffic.endpoint.split(' ')
    const fixed = {
      endpoint_id: id,
      machine_user_id: ids.machineUsers[traffic.caller],
      method: traffic.method ?? 'POST',
      path: `/esb/${shop.applications[application as ApplicationSlug].id}${path}`,
      target_url: url,
    }
    return listTimes(traffic, past, random).map((time) => ({
      ...fixed,
      ...createCall(traffic, { time, hoursAgo: (past.until - time) / hourMs, random }),
    }))
  })
}

function listTimes(traffic: Traffic, { from, until }: Past, random: Random): number[] {
  const { load } = traffic
  const times: number[] = []
  if ('everyMinutes' in load) {
    const stepMs = load.everyMinutes * minuteMs
    for (let at = Math.ceil(from / stepMs) * stepMs; at < until; at += stepMs)
      for (let call = 0; call < load.perRun; call++) times.push(at + random.between(150, 900))
  } else
    for (let hour = from; hour < until; hour += hourMs) {
      // Callers retry failed calls at any hour, so an outage increases the number of calls.
      const isOut = findOutage(traffic, (until - hour) / hourMs) !== undefined
      const activity = Math.max(getActivity(hour), isOut ? 0.6 : 0)
      for (let calls = random.count(load.perHour * activity); calls > 0; calls--)
        times.push(hour + random.between(0, hourMs - 1))
    }
  return times.filter((time) => time < until)
}

/** Returns how busy an hour is, from 0 to 1. */
function getActivity(time: number): number {
  const date = new Date(time)
  const isWeekend = [0, 6].includes(date.getUTCDay())
  const distanceFromNoon = Math.abs(date.getUTCHours() - 12.5)
  return Math.max(0.08, 1 - distanceFromNoon / 9) * (isWeekend ? 0.35 : 1)
}

type Moment = { time: number; hoursAgo: number; random: Random }

function createCall(traffic: Traffic, { time, hoursAgo, random }: Moment) {
  const result = chooseResult(traffic, hoursAgo, random)
  const [shortest, longest] = result.durationMs ?? traffic.durationMs
  // Squared, so that most calls are fast.
  const durationMs = Math.round(shortest + (longest - shortest) * random.next() ** 2)
  return {
    id: v7({ msecs: time }),
    created_at: new Date(time).toISOString(),
    response_status: result.status,
    duration_ms: durationMs,
    transformed: traffic.isTransformed === true && result.failure === undefined,
    failure: result.failure ?? null,
    ...(traffic.hasContents === true ? createContents(result, random) : {}),
  }
}

const findOutage = ({ outages = [] }: Traffic, hoursAgo: number): Outage | undefined =>
  outages.find((one) => hoursAgo <= one.startHoursAgo && hoursAgo > one.startHoursAgo - one.hours)

function chooseResult(traffic: Traffic, hoursAgo: number, random: Random): Result {
  const outage = findOutage(traffic, hoursAgo)
  if (outage !== undefined && random.next() < outage.share) return outage.result
  let position = random.next()
  for (const [share, result] of traffic.failures) {
    if (position < share) return result
    position -= share
  }
  return { status: 200 }
}

const customers = ['Acme Hotels', 'Birch Cafés', 'Cedar Clinics', 'Dune Resorts']

/** Returns the headers and bodies of a call that log level FULL stores, with secrets redacted. */
function createContents({ status, failure }: Result, random: Random) {
  const [count, order] = [random.between(2, 40), random.between(1_000, 9_999)]
  const json = { name: 'content-type', value: 'application/json' }
  const request = {
    request_headers: [json, { name: 'authorization', value: '[redacted]' }],
    request_body: JSON.stringify({ tenant: customers[random.between(0, 3)], count }),
  }
  if (failure !== undefined) return request
  const body =
    status === 409 ? { error: 'not enough tulips', left: count - 1 } : { order: `T-${order}`, count }
  return { ...request, response_headers: [json], response_body: JSON.stringify(body) }
}
