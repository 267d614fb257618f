// Looks up rows in the Manager by the names that the file uses.
import { Failure } from '../failures.ts'
import type { Row } from '../output.ts'
import type { Resource } from '../resource.ts'
import { apps } from '../resources/apps.ts'
import { environments } from '../resources/environments.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { projects } from '../resources/projects.ts'
import type { ParentRow } from '../rows.ts'
import type { Planning } from './step.ts'

/** Returns the row of the parent with exactly this key, or null. Throws if several rows have this key. */
export async function findRowByKey(
  { lists }: Planning,
  resource: Resource,
  parent: ParentRow | null,
  { key, path }: { key: string; path: string },
): Promise<Row | null> {
  const matches = await lists.findByKey(resource, parent, key)
  if (matches.length > 1) throw createDuplicateFailure(resource, path, matches.length)
  return matches[0] ?? null
}

export const createDuplicateFailure = ({ name }: Resource, path: string, count: number): Failure =>
  new Failure('failed', `${count} ${name} are named ${path}. Rename or delete all but one.`)

/** Returns the id of an app or machine user that a link names, or null if `apply` will create it. */
export async function findLinkTarget(planning: Planning, kind: string, path: string): Promise<string | null> {
  const { ids } = planning
  const knownId = ids.find(kind, path)
  if (knownId !== null || ids.isPlanned(kind, path)) return knownId
  const id = await (kind === apps.singular ? findApp(planning, path) : findMachineUser(planning, path))
  if (id === null)
    throw new Failure(
      'usage',
      `The ${kind} ${path} is not in the file, and it does not exist in the Manager or you cannot see it.`,
    )
  ids.set(kind, path, id)
  return id
}

async function findApp(planning: Planning, path: string): Promise<string | null> {
  const [slug, key] = splitPath(path)
  const id = planning.ids.find(projects.singular, slug)
  return id === null ? null : getId(await findRowByKey(planning, apps, { id, slug }, { key, path }))
}

async function findMachineUser(planning: Planning, path: string): Promise<string | null> {
  const [slug, rest] = splitPath(path)
  const [name, key] = splitPath(rest)
  const project = planning.ids.find(projects.singular, slug)
  if (project === null) return null
  const environment = await findRowByKey(planning, environments, { id: project }, { key: name, path })
  const id = getId(environment)
  return id === null ? null : getId(await findRowByKey(planning, machineUsers, { id }, { key, path }))
}

const getId = (row: Row | null): string | null => (row === null ? null : String(row['id']))

const splitPath = (path: string): [string, string] => {
  const slash = path.indexOf('/')
  return [path.slice(0, slash), path.slice(slash + 1)]
}
