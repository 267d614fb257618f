// What part of a list a caller sees: all rows of the projects he is a member of, and single rows elsewhere.
import type { Actor, Holding } from './actor.ts'

/** Rows of these projects, and rows with these ids; `all` for administrators. */
export type Reach = 'all' | { projectIds: string[]; ids: string[] }

/** `own` picks, from what the caller holds in a project he is no member of, the ids of the rows he still sees. */
export async function reachIn(
  actor: Actor,
  projectIds: readonly string[],
  own: (holding: Holding) => string[],
): Promise<Reach> {
  if (actor.isAdministrator) return 'all'
  const reach: Reach = { projectIds: [], ids: [] }
  const holdings = await Promise.all(projectIds.map((id) => actor.holdingIn(id)))
  for (const [index, holding] of holdings.entries()) {
    if (holding.projectRole !== null) reach.projectIds.push(projectIds[index] as string)
    else reach.ids.push(...own(holding))
  }
  return reach
}
