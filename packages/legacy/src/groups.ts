// Groups the applications of a project that are clones of each other. All functions here are pure.
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
  /**
   * Greater than 1 if a tenant has several clones of the application. This group then contains additional clones.
   */
  ordinal: number
}

/**
 * Groups clones with the same root. The root is the last application in a chain of `clone_of` ids, even if that
 * application does not exist. An application that is neither a clone nor a root joins the only group that uses its
 * slug. If there is no such group, it joins the other applications with its slug.
 */
export function groupClones(applications: readonly Clone[]): Group[] {
  const byId = new Map(applications.map((application) => [application.id, application]))
  const rootIds = new Set<string>()
  const rootsById = new Map<string, string>()
  for (const application of applications) {
    if (application.clone_of === null) continue
    const root = findRoot(application, byId, rootsById)
    rootsById.set(application.id, root)
    rootIds.add(root)
  }
  const families = new Map<string, Clone[]>()
  const add = (key: string, application: Clone): void => {
    const family = families.get(key)
    if (family === undefined) families.set(key, [application])
    else family.push(application)
  }
  const unlinkedApplications: Clone[] = []
  for (const application of applications) {
    const root = rootsById.get(application.id) ?? (rootIds.has(application.id) ? application.id : null)
    if (root === null) unlinkedApplications.push(application)
    else add(`root ${root}`, application)
  }
  const familiesBySlug = mapSlugsToFamilies(families)
  for (const application of unlinkedApplications)
    add(familiesBySlug.get(application.slug ?? '') ?? formatFamilyKey(application), application)
  return [...families].flatMap(([key, family]) => splitFamily(key, family))
}

/** Returns the family of an application that has no root. An application without a slug forms a separate family. */
const formatFamilyKey = ({ id, slug }: Clone): string => ((slug ?? '') === '' ? `id ${id}` : `slug ${slug}`)

/**
 * Returns the last id in a chain of clones, or the smallest id in a cycle. Stops at an id whose root is already known.
 */
function findRoot(
  start: Clone,
  byId: ReadonlyMap<string, Clone>,
  rootsById: ReadonlyMap<string, string>,
): string {
  const visitedIds = new Set<string>()
  let id = start.id
  for (;;) {
    const knownRoot = rootsById.get(id)
    if (knownRoot !== undefined) return knownRoot
    if (visitedIds.has(id)) return findSmallestInCycle(id, byId)
    visitedIds.add(id)
    const origin = byId.get(id)?.clone_of ?? null
    if (origin === null) return id
    id = origin
  }
}

function findSmallestInCycle(id: string, byId: ReadonlyMap<string, Clone>): string {
  let smallestId = id
  for (let at = byId.get(id)?.clone_of ?? id; at !== id; at = byId.get(at)?.clone_of ?? id)
    if (at < smallestId) smallestId = at
  return smallestId
}

/** Maps each slug to the family that uses it. A slug that several families use is mapped to undefined. */
function mapSlugsToFamilies(families: ReadonlyMap<string, Clone[]>): Map<string, string | undefined> {
  const familiesBySlug = new Map<string, string | undefined>()
  for (const [key, family] of families)
    for (const slug of new Set(family.map((clone) => clone.slug ?? '')))
      if (slug !== '') familiesBySlug.set(slug, familiesBySlug.has(slug) ? undefined : key)
  return familiesBySlug
}

/**
 * Splits a family into groups. A tenant can have an application only once, so its second clones form a
 * separate group.
 */
function splitFamily(key: string, family: readonly Clone[]): Group[] {
  const root = key.startsWith('root ') ? key.slice('root '.length) : null
  const orderedClones = family.toSorted(
    (a, b) =>
      Number(b.id === root) - Number(a.id === root) ||
      // Applications that share only the slug come last, so that they do not displace a clone.
      Number(a.clone_of === null) - Number(b.clone_of === null) ||
      compare(getSortTime(a), getSortTime(b)) ||
      compare(a.id, b.id),
  )
  const countsByTenant = new Map<string, number>()
  const groups: Group[] = []
  for (const clone of orderedClones) {
    const ordinal = clone.tenant_id === null ? 1 : (countsByTenant.get(clone.tenant_id) ?? 0) + 1
    if (clone.tenant_id !== null) countsByTenant.set(clone.tenant_id, ordinal)
    const group = groups[ordinal - 1]
    if (group === undefined) groups[ordinal - 1] = { canonical: clone, clones: [clone], ordinal }
    else group.clones.push(clone)
  }
  return groups
}

const getSortTime = (clone: Clone): string => clone.created_at ?? '9'
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
