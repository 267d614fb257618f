// F25: credentials are revoked, rotated, disabled, deleted and expire while two other replicas are asked with them all the
// time. No request that starts after the answer is accepted.
import { type Base, type BaseSetup, openBase } from '../base.ts'
import { type Row, playedOn } from '../row.ts'
import { createVerdict, lagsAt } from '../verdict.ts'
import {
  type Live,
  allButOne,
  createLiveWorld,
  endCredential,
  expireSoon,
  hammer,
  warmCredentials,
  waysToEnd,
} from '@manager/harness/live-credentials.ts'
import {
  type Ending,
  type Use,
  acceptedAfterEnd,
  refusedBeforeEnd,
  startedAfterEnd,
} from '@manager/harness/revocation.ts'
import { mutant } from '../plant.ts'

type Observed = { uses: Use[]; endings: [string, Ending][]; ways: Record<string, number>; seconds: number }

const seconds = 25
const tokens = 14
const machines = 80
const expiringTokens = 4
const fewestEndings = 30
// Three kinds of use, 2,000 of them a second.
const usesPerKind = 667
const fewestUses = 300 * seconds

/** In an order that follows from the seed. */
const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)

async function observe({ cluster, replicas, random, say }: Base): Promise<Observed> {
  const urls = replicas.map(({ url }) => url)
  const { world, addToken, addMachine } = await createLiveWorld(cluster.sql, urls)
  say(`making ${tokens} personal tokens and ${machines} machine users`)
  for (let count = 0; count < tokens; count++) await addToken(count % 2 === 0 ? 'query' : 'validate')
  for (let count = 0; count < machines; count++) await addMachine()
  await warmCredentials(world)
  const expiring = world.live.filter(({ kind }) => kind !== 'machine').slice(-expiringTokens)
  const rest = allButOne(world).filter((live) => !expiring.includes(live))
  const plan = new Map(
    shuffled(rest, random).map((live) => {
      const ways = waysToEnd(live.kind)
      return [live, ways[Math.floor(random() * ways.length)] ?? ways[0]]
    }),
  )
  const ways: Record<string, number> = { expires: expiring.length }
  const endOne = (live: Live): Promise<Ending> => {
    const way = plan.get(live) ?? ''
    const name = way.slice(0, way.indexOf('('))
    ways[name] = (ways[name] ?? 0) + 1
    return endCredential(world, live, way)
  }
  say('ending credentials at the first replica, and using them at the others')
  const expiries = await expireSoon(cluster.sql, expiring)
  const { uses, endings } = await hammer(world, [...plan.keys()], {
    seconds,
    endOne,
    fewest: fewestEndings,
    perKind: usesPerKind,
  })
  return { uses, endings: [...endings, ...expiries], ways, seconds }
}

const isShed = ({ status }: Use): boolean => status === 503

function judge({ uses, endings, ways, seconds: took }: Observed) {
  const figures = createVerdict()
  const ended = new Map(endings)
  const late = startedAfterEnd(uses, ended)
  const stale = acceptedAfterEnd(uses, ended)
  figures.none(
    'accepted_after',
    stale.map(({ credential }) => credential.slice(0, 12)),
  )
  const staleness = stale.map(
    ({ credential, startedAt }) => startedAt - (ended.get(credential)?.answeredAt ?? 0),
  )
  figures.atMost('max_staleness_ms', Math.max(0, ...staleness), 0)
  // Who is told to come again is not refused.
  const [shed, answered] = [uses.filter(isShed), uses.filter((one) => !isShed(one))]
  figures.none(
    'refused_before',
    refusedBeforeEnd(answered, ended).map(({ credential, status }) => `${credential.slice(0, 12)} ${status}`),
  )
  // What nobody uses after its end shows nothing.
  const used = new Set(late.map(({ credential }) => credential))
  figures.none(
    'not_judged',
    endings.filter(([secret]) => !used.has(secret)).map(([secret]) => secret.slice(0, 12)),
  )
  figures.atLeast('endings', endings.length, fewestEndings)
  figures.atLeast('ways', Object.keys(ways).length, 6)
  figures.show('of_n', late.length)
  figures.atLeast('uses', uses.length, fewestUses)
  figures.show('shed', shed.length)
  figures.show('auth_s', uses.length / took)
  const ms = uses.map(({ startedAt, answeredAt }) => answeredAt - startedAt).sort((a, b) => a - b)
  figures.show('ms', lagsAt(ms))
  return figures.verdict
}

const firstEnding = ({ endings }: Observed): [string, Ending] => endings[0] as [string, Ending]
const use = (observed: Observed, startsAfterMs: number): Use => {
  const [credential, { answeredAt }] = firstEnding(observed)
  const startedAt = answeredAt + startsAfterMs
  return { credential, startedAt, answeredAt: startedAt + 1, accepted: true }
}

export const f25: Row = playedOn<Observed, Base, BaseSetup>(
  (setup, options, say) => openBase(setup, options, say, async () => ({})),
  {
    id: 'F25',
    title: 'credentials end at one replica while the two others are asked 2,000 times a second',
    setup: () => ({
      replicas: 3,
      postgres: 'patroni',
      withSentinel: true,
      // One client fails all the time here; the throttles are not the question.
      env: { SVC_THROTTLES_VALIDATE_FAILURES: '100000', SVC_THROTTLES_MACHINE_FAILURES: '100000' },
    }),
    limitSeconds: 240,
    observe,
    judge,
    mutants: [
      mutant('an ended credential is accepted once more', 'accepted_after', (observed) => ({
        uses: [...observed.uses, use(observed, 0.1)],
      })),
      mutant('a replica answers from a cache of 50 ms', 'max_staleness_ms', (observed) => ({
        uses: [...observed.uses, use(observed, 50)],
      })),
      mutant('a credential is refused before its end', 'refused_before', (observed) => {
        const [credential, { askedAt }] = firstEnding(observed)
        const early = {
          credential,
          startedAt: askedAt - 2,
          answeredAt: askedAt - 1,
          accepted: false,
          status: 401,
        }
        return { uses: [...observed.uses, early] }
      }),
      mutant('nobody uses a credential after its end', 'not_judged', (observed) => {
        const [secret] = firstEnding(observed)
        return { uses: observed.uses.filter(({ credential }) => credential !== secret) }
      }),
      mutant('no credential is rotated', 'ways', (observed) => {
        const { rotateMachineUserToken: _, ...ways } = observed.ways
        return { ways }
      }),
    ],
  },
)
