// Groups the applications of a project that are clones of each other. Pure.
import type { OldApplication } from './rows.ts'

export type Clone = Pick<
  OldApplication,
  'id' | 'tenant_id' | 'clone_of' | 'slug' | 'name' | 'description' | 'created_at'
> & {
  enabled: boolean
}
export type Group = {
  /** The clone that provides the id, name and description of the application. */
  canonical: Clone
  clones: Clone[]
  /** Greater than 1 for the additional clones of a tenant that has several. */
  ordinal: number
}

/**
 * Clones with the same root form a group. The root is where `clone_of` leads, even if that application does not exist.
 * An application that is neither a clone nor a root joins the group with its slug, if exactly one group has it.
 * Otherwise, it joins the other applications with its slug.
 */
export function groupClones(applications: readonly Clone[]): Group[] {
  const byId = new Map(applications.map((application) => [application.id, application]))
  const isRoot = new Set<string>()
  const rootOf = new Map<string, string>()
  for (const application of applications) {
    if (application.clone_of === null) continue
    const root = rootOfChain(application, byId, rootOf)
    rootOf.set(application.id, root)
    isRoot.add(root)
  }
  const families = new Map<string, Clone[]>()
  const add = (key: string, application: Clone): void => {
    const family = families.get(key)
    if (family === undefined) families.set(key, [application])
    else family.push(application)
  }
  const single: Clone[] = []
  for (const application of applications) {
    const root = rootOf.get(application.id) ?? (isRoot.has(application.id) ? application.id : null)
    if (root === null) single.push(application)
    else add(`root ${root}`, application)
  }
  const familyOfSlug = slugsOf(families)
  for (const application of single)
    add(familyOfSlug.get(application.slug ?? '') ?? ownFamily(application), application)
  return [...families].flatMap(([key, family]) => split(key, family))
}

/** An application without a slug forms its own family. */
const ownFamily = ({ id, slug }: Clone): string => ((slug ?? '') === '' ? `id ${id}` : `slug ${slug}`)

/** Returns the end of a chain of clones, or the smallest id of a cycle. Known roots are not followed again. */
function rootOfChain(
  start: Clone,
  byId: ReadonlyMap<string, Clone>,
  rootOf: ReadonlyMap<string, string>,
): string {
  const seen = new Set<string>()
  let id = start.id
  for (;;) {
    const known = rootOf.get(id)
    if (known !== undefined) return known
    if (seen.has(id)) return smallestInCycle(id, byId)
    seen.add(id)
    const origin = byId.get(id)?.clone_of ?? null
    if (origin === null) return id
    id = origin
  }
}

function smallestInCycle(id: string, byId: ReadonlyMap<string, Clone>): string {
  let smallest = id
  for (let at = byId.get(id)?.clone_of ?? id; at !== id; at = byId.get(at)?.clone_of ?? id)
    if (at < smallest) smallest = at
  return smallest
}

/** Maps each slug to its family, if only one family has it. */
function slugsOf(families: ReadonlyMap<string, Clone[]>): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>()
  for (const [key, family] of families)
    for (const slug of new Set(family.map((clone) => clone.slug ?? '')))
      if (slug !== '') found.set(slug, found.has(slug) ? undefined : key)
  return found
}

/** A tenant can have an application only once, so its second clones form a separate group. */
function split(key: string, family: readonly Clone[]): Group[] {
  const root = key.startsWith('root ') ? key.slice('root '.length) : null
  const ordered = family.toSorted(
    (a, b) =>
      Number(b.id === root) - Number(a.id === root) ||
      // Applications that only share the slug come last, so that they do not displace a clone.
      Number(a.clone_of === null) - Number(b.clone_of === null) ||
      compare(timeOf(a), timeOf(b)) ||
      compare(a.id, b.id),
  )
  const perTenant = new Map<string, number>()
  const groups: Group[] = []
  for (const clone of ordered) {
    const ordinal = clone.tenant_id === null ? 1 : (perTenant.get(clone.tenant_id) ?? 0) + 1
    if (clone.tenant_id !== null) perTenant.set(clone.tenant_id, ordinal)
    const group = groups[ordinal - 1]
    if (group === undefined) groups[ordinal - 1] = { canonical: clone, clones: [clone], ordinal }
    else group.clones.push(clone)
  }
  return groups
}

const timeOf = (clone: Clone): string => clone.created_at ?? '9'
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
