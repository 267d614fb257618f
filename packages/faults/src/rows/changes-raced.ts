// F27: the same thing is wanted many times at once, at three replicas: one version of a pilet, one registration, one
// credential; and a role is used while it is taken away. One of them wins, and everyone is told the truth.
import { type Base, type BaseSetup, openBase } from '../base.ts'
import { type Row, playedOn } from '../row.ts'
import {
  type RegisterRace,
  type RotateRace,
  type UploadRace,
  raceRegistrations,
  raceRotations,
  raceUploads,
} from '../races.ts'
import { type RoleRace, raceRole } from '../role-race.ts'
import { createVerdict } from '../verdict.ts'
import { seedProject, seedUser } from '@manager/harness/seed.ts'
import { changeOne, mutant } from '../plant.ts'

type Observed = {
  uploads: UploadRace[]
  registrations: RegisterRace[]
  rotations: RotateRace[]
  roles: RoleRace[]
}

// The first round opens the connections, on which the others then meet.
const rounds = 6
const uploadsAtOnce = 50
const registrationsAtOnce = 50
const rotationsAtOnce = 20
const leastMs = 400
const spreadMs = 600
/** Whoever uses a role all the time cannot keep it by that. */
const lossMs = 5_000

async function observe({ cluster, replicas, random, say }: Base): Promise<Observed> {
  const losses = Array.from({ length: rounds }, () => leastMs + spreadMs * random())
  const { sql } = cluster
  const admin = await seedUser(sql, 'admin', 'administrator')
  const world = { sql, replicas, admin, project: await seedProject(sql, 'races') }
  const observed: Observed = { uploads: [], registrations: [], rotations: [], roles: [] }
  for (const [round, lossAfterMs] of losses.entries()) {
    say(`round ${round + 1} of ${rounds}`)
    observed.uploads.push(await raceUploads(world, uploadsAtOnce))
    observed.registrations.push(await raceRegistrations(world, registrationsAtOnce))
    observed.rotations.push(await raceRotations(world, rotationsAtOnce))
    observed.roles.push(await raceRole(world, round, lossAfterMs))
  }
  return observed
}

const tally = (statuses: readonly number[]): string =>
  [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => `${status}x${all.length}`).join(' ')

/** One is created, the others conflict, and every replica serves what the winner sent. */
function checkUpload({ statuses, won, stored, served }: UploadRace): string[] {
  const isRight =
    statuses.filter((status) => status === 200).length === 1 &&
    statuses.filter((status) => status === 409).length === statuses.length - 1
  const [winner] = won
  return [
    ...(isRight ? [] : [tally(statuses)]),
    ...(stored.length === 1 && stored[0] === winner ? [] : [`${stored.length} stored, or not the winner's`]),
    ...served.filter((hash) => hash !== winner).map(() => 'a replica serves other bytes'),
  ]
}

/** One registration, known to all of them by the same id; its token is one of those that were answered, each its own. */
function checkRegistration({ statuses, ids, tokens, stored }: RegisterRace): string[] {
  const made = statuses.filter((status) => status === 201).length
  const again = statuses.filter((status) => status === 200).length
  return [
    ...(made === 1 && again === statuses.length - 1 ? [] : [tally(statuses)]),
    ...(new Set(ids).size === 1 ? [] : ['several ids']),
    ...(new Set(tokens).size === tokens.length ? [] : ['a token is answered twice']),
    ...(stored.length === 1 ? [] : [`${stored.length} registrations`]),
    ...stored.filter((token) => !tokens.includes(token)).map(() => 'nobody was told the token that works'),
  ]
}

/** Each rotation replaced what the one before it wrote; only the token of the last works, at every replica. */
function checkRotation({ tokens, failed, steps, works, replicas }: RotateRace): string[] {
  const last = steps.at(-1)?.after ?? ''
  const wrong = tokens.filter((token, index) => works[index] !== (token.startsWith(last) ? replicas : 0))
  const torn = steps.slice(1).filter(({ before }, index) => before !== steps[index]?.after)
  return [
    ...failed,
    ...(steps.length === tokens.length - 1 ? [] : [`${steps.length} of ${tokens.length - 1} are audited`]),
    ...wrong.map((token) => `${token.slice(0, 8)} works where it must not, or the other way round`),
    ...torn.map(({ before }) => `${before} was replaced twice`),
  ]
}

/** No change of theirs follows the loss of their role in the chain, and none that was asked for later is accepted. */
const checkRole = ({ uses, lostAt, after }: RoleRace): { late: string[]; chained: string[] } => ({
  late: uses.filter(({ startedAt, isAccepted }) => isAccepted && startedAt > lostAt).map(({ op }) => op),
  chained: after,
})

function judge({ uploads, registrations, rotations, roles }: Observed) {
  const figures = createVerdict()
  const inRoles = roles.map(checkRole)
  const late = inRoles.flatMap((one) => one.late)
  const [pilets, backends, tokens] = [
    uploads.flatMap(checkUpload),
    registrations.flatMap(checkRegistration),
    rotations.flatMap(checkRotation),
  ]
  const chained = inRoles.flatMap((one) => one.chained)
  figures.none('violations', [...pilets, ...backends, ...tokens, ...chained, ...late])
  figures.none('pilets_wrong', pilets)
  figures.none('registrations_wrong', backends)
  figures.none('tokens_wrong', tokens)
  figures.none('after_the_loss', chained)
  figures.none('accepted_after', late)
  judgeUses(figures, roles)
  figures.show('uploads', uploads.flatMap(({ statuses }) => statuses).length)
  figures.show('registrations', registrations.flatMap(({ statuses }) => statuses).length)
  figures.show('rotations', rotations.flatMap(({ steps }) => steps).length)
  return figures.verdict
}

const countLate = ({ uses, lostAt }: RoleRace): number =>
  uses.filter(({ startedAt }) => startedAt > lostAt).length

/** Roles were used before and after their loss, which took no longer than it may. */
function judgeUses(figures: ReturnType<typeof createVerdict>, roles: readonly RoleRace[]): void {
  figures.atMost('loss_ms', Math.max(...roles.map(({ askedAt, lostAt }) => lostAt - askedAt)), lossMs)
  figures.atLeast('used_before', Math.min(...roles.map(({ before }) => before)), 1)
  figures.atLeast('used_after', Math.min(...roles.map(countLate)), 1)
  figures.show(
    'asked_again',
    roles.reduce((sum, { asked }) => sum + asked - 1, 0),
  )
  figures.show('uses', roles.flatMap(({ uses }) => uses).length)
}

export const f27: Row = playedOn<Observed, Base, BaseSetup>(
  (setup, options, say) => openBase(setup, options, say, async () => ({})),
  {
    id: 'F27',
    title: '50 uploads, 50 registrations and 20 rotations of the same at once; a role is used while it ends',
    setup: () => ({
      replicas: 3,
      postgres: 'patroni',
      withSentinel: true,
      // Tokens that are replaced are tried too; the throttles are not the question.
      env: { SVC_THROTTLES_MACHINE_FAILURES: '100000' },
    }),
    limitSeconds: 240,
    observe,
    judge,
    mutants: [
      mutant('two uploads of one version are accepted', 'pilets_wrong', (seen) => ({
        uploads: changeOne(seen.uploads, (one) => ({
          ...one,
          statuses: one.statuses.map((status, index) => (index === one.statuses.indexOf(409) ? 200 : status)),
        })),
      })),
      mutant('a loser replaces the bytes', 'pilets_wrong', (seen) => ({
        uploads: changeOne(seen.uploads, (one) => ({ ...one, stored: ['other'] })),
      })),
      mutant('a backend is registered twice', 'registrations_wrong', (seen) => ({
        registrations: changeOne(seen.registrations, (one) => ({
          ...one,
          stored: [...one.stored, ...one.stored],
        })),
      })),
      mutant('two rotated tokens work', 'tokens_wrong', (seen) => ({
        rotations: changeOne(seen.rotations, (one) => ({
          ...one,
          works: one.works.map(() => one.replicas),
        })),
      })),
      mutant(
        'a change is judged before its transaction, and committed after the loss of the role',
        'after_the_loss',
        (seen) => ({
          roles: changeOne(seen.roles, (one) => ({ ...one, after: ['machineUser create'] })),
        }),
      ),
      mutant('a role works after its loss', 'accepted_after', (seen) => ({
        roles: changeOne(seen.roles, (one) => ({
          ...one,
          uses: one.uses.map((use) => ({ ...use, isAccepted: true })),
        })),
      })),
      mutant('who uses a role without a pause keeps it', 'loss_ms', (seen) => ({
        roles: changeOne(seen.roles, (one) => ({ ...one, lostAt: one.askedAt + lossMs + 1 })),
      })),
    ],
  },
)
