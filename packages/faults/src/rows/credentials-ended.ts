// F25: credentials expire or are revoked, rotated, disabled or deleted while they are used continuously at two other
// replicas. No request that starts after the invalidation was confirmed is accepted.
import { type Base, type BaseSetup, openBase } from '../base.ts'
import { type Row, createRow } from '../row.ts'
import { createVerdict, lagsAt } from '../verdict.ts'
import {
  type LiveCredential,
  omitOneOfEachKind,
  createLiveWorld,
  expireSoon,
  invalidateCredential,
  getInvalidatingMutations,
  useAndInvalidate,
  warmCredentials,
} from '@manager/harness/live-credentials.ts'
import {
  type Invalidation,
  type Use,
  findAcceptedAfterInvalidation,
  findRejectedBeforeInvalidation,
  findUsesAfterInvalidation,
} from '@manager/harness/revocation.ts'
import { mutant } from '../plant.ts'

type Observed = {
  uses: Use[]
  invalidations: [string, Invalidation][]
  ways: Record<string, number>
  seconds: number
}

const seconds = 25
const tokens = 14
const machines = 80
const expiringTokens = 4
const minInvalidated = 30
// Three kinds of use, with a total of 2,000 uses per second.
const usesPerKind = 667
const minUses = 300 * seconds

/** Shuffles the items. The seed determines the order. */
const shuffle = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item)

async function observe({ cluster, replicas, random, log }: Base): Promise<Observed> {
  const urls = replicas.map(({ url }) => url)
  const { world, addToken, addMachine } = await createLiveWorld(cluster.sql, urls)
  log(`creating ${tokens} personal tokens and ${machines} machine users`)
  for (let count = 0; count < tokens; count++) await addToken(count % 2 === 0 ? 'query' : 'validate')
  for (let count = 0; count < machines; count++) await addMachine()
  await warmCredentials(world)
  const expiring = world.credentials.filter(({ kind }) => kind !== 'machine').slice(-expiringTokens)
  const rest = omitOneOfEachKind(world).filter((credential) => !expiring.includes(credential))
  const plan = new Map(
    shuffle(rest, random).map((credential) => {
      const mutations = getInvalidatingMutations(credential.kind)
      return [credential, mutations[Math.floor(random() * mutations.length)] ?? mutations[0]]
    }),
  )
  const ways: Record<string, number> = { expires: expiring.length }
  const invalidate = (credential: LiveCredential): Promise<Invalidation> => {
    const mutation = plan.get(credential) ?? ''
    const name = mutation.slice(0, mutation.indexOf('('))
    ways[name] = (ways[name] ?? 0) + 1
    return invalidateCredential(world, credential, mutation)
  }
  log('invalidating credentials at the first replica while the others use them')
  const expiries = await expireSoon(cluster.sql, expiring)
  const { uses, invalidations } = await useAndInvalidate(world, [...plan.keys()], {
    seconds,
    invalidate,
    minInvalidated,
    perKind: usesPerKind,
  })
  return { uses, invalidations: [...invalidations, ...expiries], ways, seconds }
}

const isShed = ({ status }: Use): boolean => status === 503

function judge({ uses, invalidations, ways, seconds: took }: Observed) {
  const figures = createVerdict()
  const invalidated = new Map(invalidations)
  const late = findUsesAfterInvalidation(uses, invalidated)
  const stale = findAcceptedAfterInvalidation(uses, invalidated)
  figures.none(
    'accepted_after_invalidation',
    stale.map(({ credential }) => credential.slice(0, 12)),
  )
  const staleness = stale.map(
    ({ credential, startedAt }) => startedAt - (invalidated.get(credential)?.confirmedAt ?? 0),
  )
  figures.atMost('max_staleness_ms', Math.max(0, ...staleness), 0)
  // A 503 is not a rejection of the credential.
  const [shed, answered] = [uses.filter(isShed), uses.filter((one) => !isShed(one))]
  figures.none(
    'rejected_before_invalidation',
    findRejectedBeforeInvalidation(answered, invalidated).map(
      ({ credential, status }) => `${credential.slice(0, 12)} ${status}`,
    ),
  )
  // Every credential must be used after its invalidation. Otherwise, its rejection was not tested.
  const used = new Set(late.map(({ credential }) => credential))
  figures.none(
    'not_judged',
    invalidations.filter(([secret]) => !used.has(secret)).map(([secret]) => secret.slice(0, 12)),
  )
  figures.atLeast('invalidations', invalidations.length, minInvalidated)
  figures.atLeast('ways', Object.keys(ways).length, 6)
  figures.show('used_after_invalidation', late.length)
  figures.atLeast('uses', uses.length, minUses)
  figures.show('shed', shed.length)
  figures.show('auth_s', uses.length / took)
  const ms = uses.map(({ startedAt, answeredAt }) => answeredAt - startedAt).sort((a, b) => a - b)
  figures.show('ms', lagsAt(ms))
  return figures.verdict
}

const firstInvalidation = ({ invalidations }: Observed): [string, Invalidation] =>
  invalidations[0] as [string, Invalidation]
const use = (observed: Observed, startsAfterMs: number): Use => {
  const [credential, { confirmedAt }] = firstInvalidation(observed)
  const startedAt = confirmedAt + startsAfterMs
  return { credential, startedAt, answeredAt: startedAt + 1, accepted: true }
}

export const f25: Row = createRow<Observed, Base, BaseSetup>(
  (setup, options, log) => openBase(setup, options, log, async () => ({})),
  {
    id: 'F25',
    title: 'credentials are invalidated at one replica while the two others receive 2,000 calls per second',
    setup: () => ({
      replicas: 3,
      postgres: 'patroni',
      withSentinel: true,
      // All failures come from one client, so the throttles, which are not under test, are raised.
      env: { SVC_THROTTLES_VALIDATE_FAILURES: '100000', SVC_THROTTLES_MACHINE_FAILURES: '100000' },
    }),
    limitSeconds: 240,
    observe,
    judge,
    mutants: [
      mutant(
        'an invalidated credential is accepted once more',
        'accepted_after_invalidation',
        (observed) => ({
          uses: [...observed.uses, use(observed, 0.1)],
        }),
      ),
      mutant('a replica uses a cache of 50 ms', 'max_staleness_ms', (observed) => ({
        uses: [...observed.uses, use(observed, 50)],
      })),
      mutant(
        'a credential is rejected before its invalidation',
        'rejected_before_invalidation',
        (observed) => {
          const [credential, { requestedAt }] = firstInvalidation(observed)
          const early = {
            credential,
            startedAt: requestedAt - 2,
            answeredAt: requestedAt - 1,
            accepted: false,
            status: 401,
          }
          return { uses: [...observed.uses, early] }
        },
      ),
      mutant('a credential is not used after its invalidation', 'not_judged', (observed) => {
        const [secret] = firstInvalidation(observed)
        return { uses: observed.uses.filter(({ credential }) => credential !== secret) }
      }),
      mutant('no credential is rotated', 'ways', (observed) => {
        const { rotateMachineUserToken: _, ...ways } = observed.ways
        return { ways }
      }),
    ],
  },
)
