// F35: the secret of the proxy is exchanged: replicas accept two, then the proxies send the new one, then replicas accept
// only that. Nobody who follows is refused, and the former one is refused in the end.
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
  /** What each replica answers in the end, to the former secret and to the new one. */
  former: number[]
  next: number[]
  /** Calls since the proxies sent the new one, and since it was the only one. */
  since: { switched: number; only: number }
}

const firstMs = 3_000
const lastMs = 4_000
const leastSeconds = 20
const fewestCalls = 50

async function observe(stage: MixedStage): Promise<Observed> {
  const { balancer, client, recorder, say } = stage
  const secret = randomBytes(32).toString('base64url')
  const load = await stage.startLoad(leastSeconds)
  await load.at(firstMs)
  const at = Date.now()
  say('two secrets are accepted')
  const both = { SVC_PROXY_SECRET: secret, SVC_PROXY_SECRET_PREVIOUS: proxySecret }
  const drained = await replaceReplicas(stage, both)
  say('the proxies send the new one')
  await balancer.replaceSecret(proxySecret, secret)
  const switched = recorder.operations.length
  say('only the new one is accepted')
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
    former: await askAll(stage, proxySecret),
    next: await askAll(stage, secret),
    since: { switched: total - switched, only: total - only },
    faults: [{ name: 'the secret of the proxy is exchanged', at, until }],
  }
}

/** Asks every replica directly, with this secret. */
async function askAll({ replicas, world }: MixedStage, secret: string): Promise<number[]> {
  const statuses: number[] = []
  for (const { url } of replicas.filter((replica) => replica.isAlive())) {
    const direct = createClient(url)
    const headers = { ...personHeaders(world.site.adminId), 'x-proxy-auth': secret }
    statuses.push((await direct.send('/query', { headers, body: { query: '{ me { id } }' } })).status)
    await direct.end()
  }
  return statuses
}

/** Calls that are answered 401 for no other reason than the gate: none of them brings a credential that may have ended. */
const refusedCalls = ({ operations }: MixedObserved): string[] =>
  operations
    .filter(({ op, status }) => status === 401 && op !== 'stranger' && op !== 'authenticate')
    .map(({ op, key }: Operation) => `${op} ${key}`)

export const f35: Row = defineMixedRow<Observed>({
  id: 'F35',
  title: 'the secret of the proxy is exchanged: two are accepted, then one; replicas restart one by one',
  setup: () => ({ replicas: 3, postgres: 'patroni', withSentinel: true, env: drainEnv }),
  limitSeconds: 420,
  observe,
  judge: (figures, observed) => {
    const { gate401, drained, former, next, since, operations } = observed
    figures.none('gate_401', [...gate401, ...refusedCalls(observed)])
    figures.none(
      'failed',
      operations.filter(({ outcome }) => outcome === 'unknown').map(({ op, status }) => `${op} ${status}`),
    )
    figures.none(
      'former_accepted',
      former.filter((status) => status !== 401).map((status) => `the former secret is answered ${status}`),
    )
    figures.none(
      'new_refused',
      next.filter((status) => status !== 200).map((status) => `the new secret is answered ${status}`),
    )
    figures.none('bad_exits', badExits(drained))
    figures.atLeast('restarts', drained.length, 6)
    figures.atLeast('with_new', since.switched, fewestCalls)
    figures.atLeast('with_new_only', since.only, fewestCalls)
    figures.show('drain_most_s', Math.max(...drained.map(({ seconds }) => seconds)))
    const [span] = observed.faults
    figures.show('rotation_s', ((span?.until ?? 0) - (span?.at ?? 0)) / 1_000)
  },
  mutants: [
    mutant('a call of a proxy that follows is refused at the gate', 'gate_401', () => ({
      gate401: ['/query'],
    })),
    mutant('an upload is answered 401', 'gate_401', (observed) => ({
      operations: observed.operations.map((one) =>
        one.op === 'upload' ? { ...one, status: 401, outcome: 'fail' as const } : one,
      ),
    })),
    failedOperation('a call has no answer while a replica drains', 'failed', 0),
    mutant('the former secret stays valid', 'former_accepted', () => ({ former: [401, 200, 401] })),
    mutant('a replica does not know the new secret', 'new_refused', () => ({
      next: [200, 401, 200],
    })),
    mutant('a replica does not drain', 'bad_exits', (observed) => ({
      drained: observed.drained.map((one) => ({ ...one, exit: 'SIGKILL' })),
    })),
  ],
})
