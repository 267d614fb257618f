// F27: many concurrent calls at three replicas compete for the same pilet version, registration or credential, and a
// role is used while it is revoked. Each time, exactly one call wins, and every response is correct.
import { type Base, type BaseSetup, openBase } from '../base.ts'
import { type Row, createRow } from '../row.ts'
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

// The first round opens the connections, so later calls are truly concurrent.
const rounds = 6
const concurrentUploads = 50
const concurrentRegistrations = 50
const concurrentRotations = 20
const minDelayMs = 400
const spreadMs = 600
/** The maximum delay of the revocation while the role is used continuously. */
const maxRevocationMs = 5_000

async function observe({ cluster, replicas, random, log }: Base): Promise<Observed> {
  const delaysMs = Array.from({ length: rounds }, () => minDelayMs + spreadMs * random())
  const { sql } = cluster
  const admin = await seedUser(sql, 'admin', 'administrator')
  const world = { sql, replicas, admin, project: await seedProject(sql, 'races') }
  const observed: Observed = { uploads: [], registrations: [], rotations: [], roles: [] }
  for (const [round, revokeAfterMs] of delaysMs.entries()) {
    log(`round ${round + 1} of ${rounds}`)
    observed.uploads.push(await raceUploads(world, concurrentUploads))
    observed.registrations.push(await raceRegistrations(world, concurrentRegistrations))
    observed.rotations.push(await raceRotations(world, concurrentRotations))
    observed.roles.push(await raceRole(world, round, revokeAfterMs))
  }
  return observed
}

const tally = (statuses: readonly number[]): string =>
  [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => `${status}x${all.length}`).join(' ')

/**
 * Checks that one upload succeeds, that the others conflict, and that every replica serves the bytes of the successful
 * upload.
 */
function checkUpload({ statuses, won, stored, served }: UploadRace): string[] {
  const isRight =
    statuses.filter((status) => status === 200).length === 1 &&
    statuses.filter((status) => status === 409).length === statuses.length - 1
  const [winner] = won
  return [
    ...(isRight ? [] : [tally(statuses)]),
    ...(stored.length === 1 && stored[0] === winner
      ? []
      : [`${stored.length} stored, or the bytes are not the winner's`]),
    ...served.filter((hash) => hash !== winner).map(() => 'a replica serves other bytes'),
  ]
}

/** Checks that all calls return the same registration id and different tokens, one of which is stored. */
function checkRegistration({ statuses, ids, tokens, stored }: RegisterRace): string[] {
  const made = statuses.filter((status) => status === 201).length
  const again = statuses.filter((status) => status === 200).length
  return [
    ...(made === 1 && again === statuses.length - 1 ? [] : [tally(statuses)]),
    ...(new Set(ids).size === 1 ? [] : ['several ids']),
    ...(new Set(tokens).size === tokens.length ? [] : ['a token was returned twice']),
    ...(stored.length === 1 ? [] : [`${stored.length} registrations`]),
    ...stored.filter((token) => !tokens.includes(token)).map(() => 'no response contains the stored token'),
  ]
}

/** Checks that each rotation replaces the previous token, and that only the last token works at every replica. */
function checkRotation({ tokens, failed, steps, works, replicas }: RotateRace): string[] {
  const last = steps.at(-1)?.after ?? ''
  const wrong = tokens.filter((token, index) => works[index] !== (token.startsWith(last) ? replicas : 0))
  const torn = steps.slice(1).filter(({ before }, index) => before !== steps[index]?.after)
  return [
    ...failed,
    ...(steps.length === tokens.length - 1 ? [] : [`${steps.length} of ${tokens.length - 1} are audited`]),
    ...wrong.map((token) => `${token.slice(0, 8)} is accepted or rejected incorrectly`),
    ...torn.map(({ before }) => `${before} was replaced twice`),
  ]
}

/**
 * Checks that the chain contains no change by the user after the revocation, and that no later request is accepted.
 */
const checkRole = ({ uses, revokedAt, after }: RoleRace): { late: string[]; chained: string[] } => ({
  late: uses.filter(({ startedAt, isAccepted }) => isAccepted && startedAt > revokedAt).map(({ op }) => op),
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
  figures.none('changed_after_revocation', chained)
  figures.none('accepted_after_revocation', late)
  judgeUses(figures, roles)
  figures.show('uploads', uploads.flatMap(({ statuses }) => statuses).length)
  figures.show('registrations', registrations.flatMap(({ statuses }) => statuses).length)
  figures.show('rotations', rotations.flatMap(({ steps }) => steps).length)
  return figures.verdict
}

const countLate = ({ uses, revokedAt }: RoleRace): number =>
  uses.filter(({ startedAt }) => startedAt > revokedAt).length

/** Checks that roles were used before and after the revocation, and that the revocation was fast enough. */
function judgeUses(figures: ReturnType<typeof createVerdict>, roles: readonly RoleRace[]): void {
  figures.atMost(
    'revocation_ms',
    Math.max(...roles.map(({ requestedAt, revokedAt }) => revokedAt - requestedAt)),
    maxRevocationMs,
  )
  figures.atLeast('used_before', Math.min(...roles.map(({ before }) => before)), 1)
  figures.atLeast('used_after', Math.min(...roles.map(countLate)), 1)
  figures.show(
    'revocation_retries',
    roles.reduce((sum, { requests }) => sum + requests - 1, 0),
  )
  figures.show('uses', roles.flatMap(({ uses }) => uses).length)
}

export const f27: Row = createRow<Observed, Base, BaseSetup>(
  (setup, options, log) => openBase(setup, options, log, async () => ({})),
  {
    id: 'F27',
    title:
      '50 concurrent uploads, 50 registrations and 20 rotations of the same object; a role is used while it is revoked',
    setup: () => ({
      replicas: 3,
      postgres: 'patroni',
      withSentinel: true,
      // Replaced tokens are also used, so the throttles, which are not under test, are raised.
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
        'a change is authorized before its transaction and committed after the revocation',
        'changed_after_revocation',
        (seen) => ({
          roles: changeOne(seen.roles, (one) => ({ ...one, after: ['machineUser create'] })),
        }),
      ),
      mutant('a role works after its revocation', 'accepted_after_revocation', (seen) => ({
        roles: changeOne(seen.roles, (one) => ({
          ...one,
          uses: one.uses.map((use) => ({ ...use, isAccepted: true })),
        })),
      })),
      mutant('continuous use of a role prevents its revocation', 'revocation_ms', (seen) => ({
        roles: changeOne(seen.roles, (one) => ({ ...one, revokedAt: one.requestedAt + maxRevocationMs + 1 })),
      })),
    ],
  },
)
