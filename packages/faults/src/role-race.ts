// Somebody uses a role at every replica while it is taken from them. The chain of the project says in which order the
// transactions were: each holds its head until it is committed.
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
  /** When the loss of the role was asked for and answered, and how often it was asked for. */
  askedAt: number
  lostAt: number
  asked: number
  /** Changes of this person in the chain of the project, before and after the one that took the role. */
  before: number
  after: string[]
}

const losses = [
  'made: updateUserProjectRole(id: $id, role: "readonly") { id }',
  'made: removeUserFromProject(id: $id)',
] as const
/** So many uses are open all the time; more of them and a slow machine would only show that it is slow. */
const openUses = 4
const afterwardsMs = 500
/** Whoever cannot take the role away by then does so when nobody uses it any more. */
const giveUpMs = 12_000

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

/** One after the other at every replica, so many at once, until it is told to end. */
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

/** Takes the role away after this long, at one replica, while it is used at all of them. */
export async function raceRole(world: RaceWorld, round: number, lossAfterMs: number): Promise<RoleRace> {
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
  await pause(lossAfterMs)
  const how = losses[round % losses.length] ?? losses[0]
  const askedAt = performance.now()
  for (let asked = 1; ; asked++) {
    const answer = await change(`mutation($id: ID!) { ${how} }`, { id: membershipId })
    const lostAt = performance.now()
    // One without an answer may have been carried out.
    const isDone = answer.error === null || (asked > 1 && answer.error.includes('not found'))
    if (!isDone && lostAt - askedAt < giveUpMs) continue
    if (isDone) await pause(afterwardsMs)
    await end()
    if (!isDone) continue
    return { how, uses, askedAt, lostAt, asked, ...(await readChain(world, person, membershipId)) }
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
