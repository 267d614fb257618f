// Uses a role at every replica while the role is revoked. The project's audit chain shows the order of the
// transactions, because each transaction locks the chain head until it commits.
import { randomUUID } from 'node:crypto'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { postQuery } from '@manager/harness/graphql.ts'
import { uploadPilet } from '@manager/harness/pilets.ts'
import { seedMachineUser, seedUser } from '@manager/harness/seed.ts'
import { pause } from './children.ts'
import type { RaceWorld } from './races.ts'

type RoleUse = { op: string; startedAt: number; isAccepted: boolean; answer: string }
export type RoleRace = {
  how: string
  uses: RoleUse[]
  /** When the revocation was requested and confirmed, and how many times it was requested. */
  requestedAt: number
  revokedAt: number
  requests: number
  /** Changes by this user in the project's chain, before and after the revocation. */
  before: number
  after: string[]
}

const revocations = [
  'made: updateUserProjectRole(id: $id, role: "readonly") { id }',
  'made: removeUserFromProject(id: $id)',
] as const
/** The number of concurrent uses. More uses would only overload a slow machine. */
const openUses = 4
const observeMs = 500
/** If the revocation has not succeeded after this time, the uses are stopped before it is retried. */
const stopUsesAfterMs = 12_000

/** Maintainer operations whose transaction checks the role again, because their result outlives the role. */
const useOf =
  ({ project }: RaceWorld, person: Person, machineUserId: string) =>
  async (service: { url: string }, turn: number): Promise<Omit<RoleUse, 'startedAt'>> => {
    const op = (['create', 'rotate', 'upload'] as const)[turn % 3] ?? 'create'
    if (op === 'upload') {
      const pilet = { projectId: project.id, name: `role-${randomUUID()}`, version: '1.0.0' }
      const { status, body } = await uploadPilet(service, person, pilet)
      return { op, isAccepted: status < 300, answer: `${status} ${JSON.stringify(body).slice(0, 80)}` }
    }
    const text =
      op === 'create'
        ? `mutation($e: ID!) { createMachineUserWithCredentials(environmentId: $e,
             input: { name: "race", hashedKey: "__GENERATE_TOKEN__" }) { generatedToken } }`
        : 'mutation($m: ID!) { rotateMachineUserToken(id: $m) { generatedToken } }'
    const variables = op === 'create' ? { e: project.environmentId } : { m: machineUserId }
    const { error } = await postQuery(service.url, headersOf(person), text, variables)
    return { op, isAccepted: error === null, answer: error ?? 'done' }
  }

/** Uses the role at all replicas with `openUses` workers until `end` is called. */
function startUses(world: RaceWorld, person: Person, machineUserId: string) {
  const useOne = useOf(world, person, machineUserId)
  const uses: RoleUse[] = []
  const state = { isEnded: false, turn: 0 }
  const worker = async (): Promise<void> => {
    while (!state.isEnded) {
      const [mine, startedAt] = [state.turn++, performance.now()]
      const { url } = world.replicas[mine % world.replicas.length] as { url: string }
      uses.push({ startedAt, ...(await useOne({ url }, Math.floor(mine / world.replicas.length))) })
    }
  }
  const workers = Promise.all(Array.from({ length: openUses }, worker))
  const end = async (): Promise<void> => {
    state.isEnded = true
    await workers
  }
  return { uses, end }
}

/** Revokes the role after `revokeAfterMs` at one replica while all replicas use it. */
export async function raceRole(world: RaceWorld, round: number, revokeAfterMs: number): Promise<RoleRace> {
  const { sql, replicas, admin, project } = world
  const person = await seedUser(sql, `maintainer-${round}`)
  const url = replicas[round % replicas.length]?.url ?? ''
  const change = (text: string, variables: Record<string, string>) =>
    postQuery(url, headersOf(admin), text, variables)
  const { data, error } = await change(
    'mutation($p: ID!, $u: ID!) { made: addUserToProject(projectID: $p, userID: $u, role: "maintainer") { id } }',
    { p: project.id, u: person.id },
  )
  if (error !== null) throw new Error(error)
  const membershipId = String(data.made.id)
  const machine = await seedMachineUser(sql, project)
  const { uses, end } = startUses(world, person, machine.id)
  await pause(revokeAfterMs)
  const how = revocations[round % revocations.length] ?? revocations[0]
  const requestedAt = performance.now()
  for (let requests = 1; ; requests++) {
    const answer = await change(`mutation($id: ID!) { ${how} }`, { id: membershipId })
    const revokedAt = performance.now()
    // An earlier request without a response may have succeeded.
    const isDone = answer.error === null || (requests > 1 && answer.error.includes('not found'))
    if (!isDone && revokedAt - requestedAt < stopUsesAfterMs) continue
    if (isDone) await pause(observeMs)
    await end()
    if (!isDone) continue
    return { how, uses, requestedAt, revokedAt, requests, ...(await readChain(world, person, membershipId)) }
  }
}

async function readChain(
  { sql }: RaceWorld,
  person: Person,
  membershipId: string,
): Promise<Pick<RoleRace, 'before' | 'after'>> {
  const { rows } = await sql.query<{ isLater: boolean; what: string }>(
    `select own.seq > loss.seq as "isLater", own.entity_type || ' ' || own.action || ' ' || own.entity_id as what
     from audit_logs own, lateral (
       select seq from audit_logs l where l.chain_id = own.chain_id and l.entity_id = $2 order by seq desc limit 1
     ) loss where own.user_id = $1`,
    [person.id, membershipId],
  )
  return {
    before: rows.filter(({ isLater }) => !isLater).length,
    after: rows.filter(({ isLater }) => isLater).map(({ what }) => what),
  }
}
