// Somebody uses a role at every replica while it is taken from them. The chain of the project says in which order the
// transactions were: each holds its head until it is committed.
import { randomUUID } from 'node:crypto'
import { type Person, headersOf } from '../test/kit/app.ts'
import { postQuery } from '../test/kit/graphql.ts'
import { uploadPilet } from '../test/kit/pilets.ts'
import { seedMachineUser, seedUser } from '../test/kit/seed.ts'
import { pause } from './children.ts'
import { keepDoing } from './comms-calls.ts'
import type { RaceWorld } from './races.ts'

export type RoleUse = { op: string; startedAt: number; isAccepted: boolean; answer: string }
export type RoleRace = {
  how: string
  uses: RoleUse[]
  /** When the loss of the role was answered. */
  lostAt: number
  /** Changes of this person in the chain of the project, before and after the one that took the role. */
  before: number
  after: string[]
}

const losses = [
  'made: updateUserProjectRole(id: $id, role: "readonly") { id }',
  'made: removeUserFromProject(id: $id)',
] as const
const usesPerSecond = 40
const afterwardsMs = 500

/** What a maintainer may do and is judged again in the transaction, since its result outlives the role. */
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

/** Takes the role away after this long, at one replica, while it is used at all of them. */
export async function raceRole(world: RaceWorld, round: number, lossAfterMs: number): Promise<RoleRace> {
  const { sql, replicas, admin, project } = world
  const person = await seedUser(sql, `maintainer-${round}`)
  const at = (turn: number): { url: string } => ({ url: replicas[turn % replicas.length]?.url ?? '' })
  const change = async (text: string, variables: object): Promise<{ made: { id: string } }> => {
    const { error, data } = await postQuery(at(round).url, headersOf(admin), text, { ...variables })
    if (error !== null) throw new Error(error)
    return data as { made: { id: string } }
  }
  const { made } = await change(
    'mutation($p: ID!, $u: ID!) { made: addUserToProject(projectID: $p, userID: $u, role: "maintainer") { id } }',
    { p: project.id, u: person.id },
  )
  const machine = await seedMachineUser(sql, project)
  const useOne = useOf(world, person, machine.id)
  const uses: RoleUse[] = []
  let turn = 0
  const end = keepDoing(usesPerSecond, async () => {
    const [mine, startedAt] = [turn++, performance.now()]
    uses.push({ startedAt, ...(await useOne(at(mine), Math.floor(mine / replicas.length))) })
  })
  await pause(lossAfterMs)
  const how = losses[round % losses.length] ?? losses[0]
  await change(`mutation($id: ID!) { ${how} }`, { id: made.id })
  const lostAt = performance.now()
  await pause(afterwardsMs)
  await end()
  return { how, uses, lostAt, ...(await readChain(world, person, made.id)) }
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
