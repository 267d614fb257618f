// Runs API callers in a separate process, so that the harness load does not distort the measurement. The callers
// send calls at a constant rate, whether or not earlier calls have completed. Argument: the control port.
import { createHash, randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { partnerHeader } from '../installation.ts'
import { serveControl } from '../control.ts'
import type { CallKind, CallRecord, Pace } from './caller.ts'

type Load = { records: CallRecord[]; stop: () => Promise<void> }

const [port] = process.argv.slice(2).map(Number) as [number]
const callsPerAgent = 64
const loads = new Map<string, Load>()

/** Sends one call. `{key}` in its URL, headers and body is replaced with a unique key. */
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
    isComplete: false,
    isFromPartner: false,
    retryAfter: null,
    digest: '',
    problem: '',
  }
  const startedAt = performance.now()
  try {
    const answer = await request(filled(kind.url), {
      method: kind.body === undefined ? 'GET' : 'POST',
      headers,
      dispatcher: agent,
      signal: AbortSignal.timeout(callMs),
      ...(kind.body === undefined ? {} : { body: filled(kind.body) }),
    })
    record.status = answer.statusCode
    record.isFromPartner = answer.headers[partnerHeader] !== undefined
    record.retryAfter =
      answer.headers['retry-after'] === undefined ? null : String(answer.headers['retry-after'])
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    record.isComplete = true
    record.digest = createHash('sha256').update(bytes).digest('hex')
    // GraphQL reports errors in responses with status 200.
    if (record.status >= 400 || bytes.includes('"errors"')) record.problem = bytes.toString('utf8', 0, 200)
  } catch (error) {
    record.problem = `${(error as Error).name}: ${(error as Error).message}`
  }
  record.ms = performance.now() - startedAt
  return record
}

/** An agent searches all its connections for a free one, so many small agents are faster than a large one. */
const createAgents = ({
  maxOpen,
  callMs,
  usesNewConnections,
  keepsConnections,
}: Required<Omit<Pace, 'kinds' | 'perSecond'>>): Agent[] =>
  Array.from(
    { length: Math.ceil(maxOpen / callsPerAgent) },
    () =>
      new Agent({
        connections: keepsConnections ? callsPerAgent : 2 * callsPerAgent,
        keepAliveTimeout: keepsConnections ? 60_000 : 1_000,
        connect: { timeout: callMs },
        ...(usesNewConnections ? { pipelining: 0 } : {}),
      }),
  )
let keptAgents: Agent[] | null = null

function start({
  kinds,
  perSecond,
  maxOpen = 256,
  callMs = 15_000,
  usesNewConnections = false,
  keepsConnections = false,
}: Pace): Load {
  const create = (): Agent[] => createAgents({ maxOpen, callMs, usesNewConnections, keepsConnections })
  const agents = (keepsConnections ? (keptAgents ??= create()) : create()).map((agent) => ({
    agent,
    open: 0,
  }))
  const records: CallRecord[] = []
  const open = new Set<Promise<void>>()
  const startedAt = performance.now()
  let [count, turn] = [0, 0]
  const timer = setInterval(() => {
    for (const due = ((performance.now() - startedAt) / 1_000) * perSecond; count < due; count++) {
      if (open.size >= maxOpen) continue
      const kind = kinds[turn % kinds.length] as CallKind
      // Uses the least busy agent. Otherwise, time spent waiting for a connection would be attributed to the service.
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
      if (!keepsConnections) await Promise.all(agents.map(({ agent }) => agent.destroy()))
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
