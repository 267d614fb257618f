// F35: the proxy secret is rotated. First the replicas accept two secrets, then the proxies send the new secret, and
// finally the replicas accept only the new secret. No valid request is rejected, and the old secret is rejected at the
// end.
import { randomBytes } from 'node:crypto'
import { personHeaders } from '../installation.ts'
import { createClient } from '../mixed/client.ts'
import { type Drained, badExits, drainEnv, replaceReplicas } from '../mixed/rolling.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Operation } from '../recorder.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import type { Row } from '../row.ts'
import { failedOperation, mutant } from '../plant.ts'

type Observed = MixedObserved & {
  gate401: string[]
  drained: Drained[]
  /** Each replica's final response status for the old and for the new secret. */
  previous: number[]
  next: number[]
  /** Number of calls after the proxies switched to the new secret, and after it became the only accepted secret. */
  since: { switched: number; only: number }
}

const firstMs = 3_000
const lastMs = 4_000
const minSeconds = 20
const minCalls = 50

async function observe(stage: MixedStage): Promise<Observed> {
  const { balancer, client, recorder, log } = stage
  const secret = randomBytes(32).toString('base64url')
  const load = await stage.startLoad(minSeconds)
  await load.at(firstMs)
  const at = Date.now()
  log('accepting both secrets')
  const both = { SVC_PROXY_SECRET: secret, SVC_PROXY_SECRET_PREVIOUS: proxySecret }
  const drained = await replaceReplicas(stage, both)
  log('switching the proxies to the new secret')
  await balancer.replaceSecret(proxySecret, secret)
  const switched = recorder.operations.length
  log('accepting only the new secret')
  drained.push(...(await replaceReplicas(stage, { SVC_PROXY_SECRET: secret })))
  const [until, only] = [Date.now(), recorder.operations.length]
  await load.at(until - load.startedAt + lastMs)
  await load.end()
  const history = await load.settle()
  const total = recorder.operations.length
  return {
    ...history,
    gate401: client.refusedAtGate,
    drained,
    previous: await statusesWith(stage, proxySecret),
    next: await statusesWith(stage, secret),
    since: { switched: total - switched, only: total - only },
    faults: [{ name: 'the proxy secret is rotated', at, until }],
  }
}

/** Sends a request with this secret directly to every replica, and returns the statuses. */
async function statusesWith({ replicas, world }: MixedStage, secret: string): Promise<number[]> {
  const statuses: number[] = []
  for (const { url } of replicas.filter((replica) => replica.isAlive())) {
    const direct = createClient(url)
    const headers = { ...personHeaders(world.site.adminId), 'x-proxy-auth': secret }
    statuses.push((await direct.send('/query', { headers, body: { query: '{ me { id } }' } })).status)
    await direct.end()
  }
  return statuses
}

/** Returns calls that the gate rejected with 401. Calls whose own credential may be invalid are excluded. */
const refusedCalls = ({ operations }: MixedObserved): string[] =>
  operations
    .filter(({ op, status }) => status === 401 && op !== 'stranger' && op !== 'authenticate')
    .map(({ op, key }: Operation) => `${op} ${key}`)

export const f35: Row = defineMixedRow<Observed>({
  id: 'F35',
  title: 'the proxy secret is rotated: two are accepted, then one; replicas restart one by one',
  setup: () => ({ replicas: 3, postgres: 'patroni', withSentinel: true, env: drainEnv }),
  limitSeconds: 420,
  observe,
  judge: (figures, observed) => {
    const { gate401, drained, previous, next, since, operations } = observed
    figures.none('gate_401', [...gate401, ...refusedCalls(observed)])
    figures.none(
      'failed',
      operations.filter(({ outcome }) => outcome === 'unknown').map(({ op, status }) => `${op} ${status}`),
    )
    figures.none(
      'previous_accepted',
      previous.filter((status) => status !== 401).map((status) => `the previous secret returned ${status}`),
    )
    figures.none(
      'new_refused',
      next.filter((status) => status !== 200).map((status) => `the new secret returned ${status}`),
    )
    figures.none('bad_exits', badExits(drained))
    figures.atLeast('restarts', drained.length, 6)
    figures.atLeast('with_new', since.switched, minCalls)
    figures.atLeast('with_new_only', since.only, minCalls)
    figures.show('drain_max_s', Math.max(...drained.map(({ seconds }) => seconds)))
    const [span] = observed.faults
    figures.show('rotation_s', ((span?.until ?? 0) - (span?.at ?? 0)) / 1_000)
  },
  mutants: [
    mutant('the gate rejects a call from an up-to-date proxy', 'gate_401', () => ({
      gate401: ['/query'],
    })),
    mutant('an upload receives 401', 'gate_401', (observed) => ({
      operations: observed.operations.map((one) =>
        one.op === 'upload' ? { ...one, status: 401, outcome: 'fail' as const } : one,
      ),
    })),
    failedOperation('a call has no response while a replica drains', 'failed', 0),
    mutant('the previous secret stays valid', 'previous_accepted', () => ({ previous: [401, 200, 401] })),
    mutant('a replica does not know the new secret', 'new_refused', () => ({
      next: [200, 401, 200],
    })),
    mutant('a replica does not drain', 'bad_exits', (observed) => ({
      drained: observed.drained.map((one) => ({ ...one, exit: 'SIGKILL' })),
    })),
  ],
})
