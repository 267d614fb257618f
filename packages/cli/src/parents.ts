// Finds the project, app or environment that contains the rows of a command.
import type { Connection } from '@manager/client'
import type { Command } from 'commander'
import { type Context, getEnvValue } from './context.ts'
import { Failure } from './failures.ts'
import type { Parent } from './resource.ts'
import { apps } from './resources/apps.ts'
import { environments } from './resources/environments.ts'
import { projects } from './resources/projects.ts'
import { type ParentRow, getRow, isId } from './rows.ts'

export type ParentOptions = { project?: string; app?: string; environment?: string }

const descriptions = {
  project: 'the project, by slug or id (SVC_PROJECT)',
  app: 'the app, by slug or id',
  environment: 'the environment: dev, qas or run',
}

/** Adds the options that name the parent. */
export function addParentOptions(command: Command, parent: Parent | null): Command {
  if (parent === null) return command
  command.option('-p, --project <project>', descriptions.project)
  if (parent === 'app') command.option('-a, --app <app>', descriptions.app)
  if (parent === 'environment') command.option('-e, --environment <name>', descriptions.environment)
  return command
}

/** Returns the parent options for help examples. */
export const getParentExample = (parent: Parent | null): string =>
  ({ none: '', project: ' -p shop', app: ' -p shop -a web', environment: ' -p shop -e dev' })[
    parent ?? 'none'
  ]

/** Returns the project that --project or SVC_PROJECT names. */
export async function getProject(
  { terminal, signal }: Context,
  connection: Connection,
  { project }: ParentOptions,
): Promise<ParentRow> {
  const projectKey = project ?? getEnvValue(terminal, 'SVC_PROJECT')
  if (projectKey === undefined)
    throw new Failure('usage', 'The project is missing. Pass --project <slug or id>, or set SVC_PROJECT.')
  return toParentRow(await getRow(connection, projects, null, { named: projectKey, signal }))
}

/** Returns the parent row, or null if the resource has no parent. */
export async function getParent(
  context: Context,
  connection: Connection,
  parent: Parent | null,
  options: ParentOptions,
): Promise<ParentRow | null> {
  if (parent === null) return null
  if (parent === 'project') return getProject(context, connection, options)
  const parentKey = options[parent]
  if (parentKey === undefined)
    throw new Failure('usage', `The ${parent} is missing. Pass --${parent} <name or id>.`)
  // An id can be looked up without its project.
  if (isId(parentKey)) return { id: parentKey }
  const project = await getProject(context, connection, options)
  const resource = parent === 'app' ? apps : environments
  return toParentRow(
    await getRow(connection, resource, project, { named: parentKey, signal: context.signal }),
  )
}

const toParentRow = ({ id, slug }: Readonly<Record<string, unknown>>): ParentRow => ({
  id: id as string,
  slug: slug as string,
})
