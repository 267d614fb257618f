// Callers of the API in a process of their own, so that the harness does not measure itself: calls at an even pace, whether
// or not earlier ones are answered. Argument: the port of its control.
import { createHash, randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { partnerHeader } from '../installation.ts'
import { serveControl } from '../control.ts'
import type { CallKind, CallRecord, Pace } from './caller.ts'

type Load = { records: CallRecord[]; stop: () => Promise<void> }

const [port] = process.argv.slice(2).map(Number) as [number]
const callsPerAgent = 64
const loads = new Map<string, Load>()

/** One call: `{key}` in its parts becomes a text of its own. */
async function callOnce(kind: CallKind, agent: Agent, callMs: number): Promise<CallRecord> {
  const key = randomUUID()
  const filled = (text: string): string => text.replaceAll('{key}', key)
  const headers = Object.fromEntries(
    Object.entries(kind.headers).map(([name, value]) => [name, filled(value)]),
  )
  const record: CallRecord = {
    kind: kind.name,
    key,
    start: Date.now(),
    ms: 0,
    status: 0,
    isWhole: false,
    isOfPartner: false,
    retryAfter: null,
    digest: '',
    problem: '',
  }
  const begun = performance.now()
  try {
    const answer = await request(filled(kind.url), {
      method: kind.body === undefined ? 'GET' : 'POST',
      headers,
      dispatcher: agent,
      signal: AbortSignal.timeout(callMs),
      ...(kind.body === undefined ? {} : { body: filled(kind.body) }),
    })
    record.status = answer.statusCode
    record.isOfPartner = answer.headers[partnerHeader] !== undefined
    record.retryAfter =
      answer.headers['retry-after'] === undefined ? null : String(answer.headers['retry-after'])
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    record.isWhole = true
    record.digest = createHash('sha256').update(bytes).digest('hex')
    // GraphQL tells of failures in answers with 200.
    if (record.status >= 400 || bytes.includes('"errors"')) record.problem = bytes.toString('utf8', 0, 200)
  } catch (error) {
    record.problem = `${(error as Error).name}: ${(error as Error).message}`
  }
  record.ms = performance.now() - begun
  return record
}

/** An agent looks through all its connections for one that is free: many small ones cost less than a large one. */
const createAgents = ({
  mostOpen,
  callMs,
  isFresh,
  isKept,
}: Required<Omit<Pace, 'kinds' | 'perSecond'>>): Agent[] =>
  Array.from(
    { length: Math.ceil(mostOpen / callsPerAgent) },
    () =>
      new Agent({
        connections: isKept ? callsPerAgent : 2 * callsPerAgent,
        keepAliveTimeout: isKept ? 60_000 : 1_000,
        connect: { timeout: callMs },
        ...(isFresh ? { pipelining: 0 } : {}),
      }),
  )
let keptAgents: Agent[] | null = null

function start({
  kinds,
  perSecond,
  mostOpen = 256,
  callMs = 15_000,
  isFresh = false,
  isKept = false,
}: Pace): Load {
  const create = (): Agent[] => createAgents({ mostOpen, callMs, isFresh, isKept })
  const agents = (isKept ? (keptAgents ??= create()) : create()).map((agent) => ({ agent, open: 0 }))
  const records: CallRecord[] = []
  const open = new Set<Promise<void>>()
  const begun = performance.now()
  let [count, turn] = [0, 0]
  const timer = setInterval(() => {
    for (const due = ((performance.now() - begun) / 1_000) * perSecond; count < due; count++) {
      if (open.size >= mostOpen) continue
      const kind = kinds[turn % kinds.length] as CallKind
      // A call never waits for a connection behind slower calls: that would not be the service's time.
      const used = agents.reduce((least, other) => (other.open < least.open ? other : least))
      turn++
      used.open++
      const one: Promise<void> = callOnce(kind, used.agent, callMs)
        .then((record) => void records.push(record))
        .finally(() => {
          used.open--
          open.delete(one)
        })
      open.add(one)
    }
  }, 2)
  return {
    records,
    stop: async () => {
      clearInterval(timer)
      await Promise.all(open)
      if (!isKept) await Promise.all(agents.map(({ agent }) => agent.destroy()))
    },
  }
}

serveControl(port, {
  start: (body) => {
    const { name, pace } = body as { name: string; pace: Pace }
    loads.set(name, start(pace))
  },
  stop: async (body) => {
    const load = loads.get(body as string)
    await load?.stop()
    return load?.records ?? []
  },
})
