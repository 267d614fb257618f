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

/** Returns the row below the parent with exactly this key, or null. Throws if several rows have it. */
export async function findRowOf(
  { connection, signal }: Planning,
  resource: Resource,
  parent: ParentRow | null,
  { key, path }: { key: string; path: string },
): Promise<Row | null> {
  const [field] = resource.keys
  const filters = [{ field, value: key }]
  const { rows } = await listRows(connection, resource, parent, { filters, isDetailed: true, signal })
  // The filter also matches names that only contain the key.
  const exact = rows.filter((row) => row[field] === key)
  if (exact.length > 1)
    throw new Failure(
      'failed',
      `${exact.length} ${resource.name} are named ${path}. Rename or delete all but one.`,
    )
  return exact[0] ?? null
}

/** Returns the id of an app or machine user that a link names, or null if the file will create it. */
export async function findLinkTarget(planning: Planning, kind: string, path: string): Promise<string | null> {
  const { ids } = planning
  const known = ids.find(kind, path)
  if (known !== null || ids.isExpected(kind, path)) return known
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
  const [slug, key] = splitAt(path)
  const id = planning.ids.find(projects.singular, slug)
  return id === null ? null : idOf(await findRowOf(planning, apps, { id, slug }, { key, path }))
}

async function findMachineUser(planning: Planning, path: string): Promise<string | null> {
  const [slug, rest] = splitAt(path)
  const [name, key] = splitAt(rest)
  const project = planning.ids.find(projects.singular, slug)
  if (project === null) return null
  const environment = await findRowOf(planning, environments, { id: project }, { key: name, path })
  const id = idOf(environment)
  return id === null ? null : idOf(await findRowOf(planning, machineUsers, { id }, { key, path }))
}

const idOf = (row: Row | null): string | null => (row === null ? null : String(row['id']))

/** Splits at the first slash. */
const splitAt = (path: string): [string, string] => {
  const at = path.indexOf('/')
  return [path.slice(0, at), path.slice(at + 1)]
}
