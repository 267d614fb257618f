// Looks up rows in the Manager by the names that the file uses.
import { Failure } from '../failures.ts'
import type { Row } from '../output.ts'
import type { Resource } from '../resource.ts'
import { apps } from '../resources/apps.ts'
import { environments } from '../resources/environments.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { projects } from '../resources/projects.ts'
import { type ParentRow, listRows } from '../rows.ts'
import type { Planning } from './step.ts'

/** Returns the row of the parent with exactly this key, or null. Throws if several rows have this key. */
export async function findRowByKey(
  { connection, signal }: Planning,
  resource: Resource,
  parent: ParentRow | null,
  { key, path }: { key: string; path: string },
): Promise<Row | null> {
  const [field] = resource.keys
  const filters = [{ field, value: key }]
  const { rows } = await listRows(connection, resource, parent, { filters, isDetailed: true, signal })
  // The filter also matches longer names that contain the key.
  const matches = rows.filter((row) => row[field] === key)
  if (matches.length > 1)
    throw new Failure(
      'failed',
      `${matches.length} ${resource.name} are named ${path}. Rename or delete all but one.`,
    )
  return matches[0] ?? null
}

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
