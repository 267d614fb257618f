// F30: uses all features for 1 hour without a fault. Memory, descriptors, connections and dead tuples do not grow.
import { fetchInfo } from '@manager/harness/engines/redis-ask.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Row } from '../row.ts'
import { type SoakSamples, judgeSoak, startSampling } from '../soak-samples.ts'
import { failedOperation, mutant } from '../plant.ts'

type Observed = MixedObserved & { samples: SoakSamples }

const usualMinutes = 60
/** The fraction of the run that is ignored, because caches fill and code is compiled during that time. */
const warmUpShare = 0.1
// The rates are low, so that an hour does not use up the credentials or fill the inboxes.
const rates = { invalidations: 0.03, emits: 2, firings: 4, creates: 2, uploads: 0.1, logins: 0.05 }

async function observe(stage: MixedStage): Promise<Observed> {
  const { cluster, replicas, sentinel, options } = stage
  if (sentinel === null) throw new Error('this scenario needs Sentinel')
  const seconds = (options.minutes ?? usualMinutes) * 60
  const load = await stage.startLoad(seconds, rates)
  await load.at(seconds * 1_000 * warmUpShare)
  stage.log('sampling starts')
  const endSampling = startSampling({
    replicas,
    sql: cluster.sql,
    redisClients: async () =>
      Number((await fetchInfo(await sentinel.master(), 'clients'))['connected_clients']),
  })
  await load.end()
  const samples = await endSampling()
  return { ...(await load.settle()), samples, faults: [] }
}

export const f30: Row = defineMixedRow<Observed>({
  id: 'F30',
  title: 'soak: all features for 1 hour; resource usage must not grow',
  setup: () => ({ replicas: 3, postgres: 'patroni', withSentinel: true }),
  limitSeconds: 7_200,
  observe,
  judge: (figures, { samples, operations }) => {
    figures.none(
      'failed',
      operations.filter(({ outcome }) => outcome === 'unknown').map(({ op, status }) => `${op} ${status}`),
    )
    judgeSoak(figures, samples)
  },
  mutants: [
    mutant('a replica leaks 1 MB per minute', 'growing', (observed) => {
      const name = Object.keys(observed.samples).find((one) => one.startsWith('heap_mb/')) ?? ''
      const some = observed.samples[name] ?? []
      const start = some[0]?.at ?? 0
      const leaking = some.map(({ at, value }) => ({ at, value: value + (at - start) / 60_000 }))
      return { samples: { ...observed.samples, [name]: leaking } }
    }),
    mutant('nothing was sampled', 'too_few_samples', () => ({ samples: {} })),
    failedOperation('a request fails although nothing is broken', 'failed', 503),
  ],
})
