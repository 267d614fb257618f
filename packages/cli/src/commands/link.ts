// The command `link`, which remembers a project, an app and an environment for a folder.
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { type FoundLink, type Link, findLink, removeLink, resolveFolder, saveLink } from '../links.ts'
import { printRemark, printResult, printRow } from '../output.ts'
import { type ParentOptions, parentDescriptions } from '../parents.ts'
import { apps } from '../resources/apps.ts'
import { environments } from '../resources/environments.ts'
import { projects } from '../resources/projects.ts'
import { type ParentRow, getRow } from '../rows.ts'
import type { Resource } from '../resource.ts'
import type { Terminal } from '../terminal.ts'

type Options = ParentOptions & { remove?: boolean }

export function addLinkCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'link',
    description:
      'Link this folder to a project, an app and an environment. Commands in this folder and its subfolders then use them, unless an option or a variable names others. Without options, show the link.',
    summary: 'Link this folder to a project, an app and an environment.',
    examples: ['link -p shop', 'link -p shop -a web -e dev', 'link', 'link --remove'],
  })
    .option('-p, --project <project>', parentDescriptions.project)
    .option('-a, --app <app>', parentDescriptions.app)
    .option('-e, --environment <name>', parentDescriptions.environment)
    .option('--remove', 'remove the link of this folder')
  setAction<Options>(command, terminal, async (context, _args, options) => {
    const { project, app, environment, remove = false } = options
    const isChange = [project, app, environment].some((name) => name !== undefined)
    if (remove && isChange)
      throw new Failure('usage', 'Pass either --remove, or the objects to link this folder to.')
    if (remove) return removeFolderLink(context)
    return isChange ? linkFolder(context, options) : showLink(context)
  })
}

async function linkFolder(context: Context, options: Options): Promise<void> {
  const { terminal, format, signal } = context
  const connection = await context.connect()
  const folder = await resolveFolder(terminal.cwd)
  const previous = await findLink(terminal)
  // An app is added to the existing link of the same folder.
  const isSame = previous !== null && previous.folder === folder && previous.url === connection.url
  const projectKey = options.project ?? (isSame ? previous.project.id : undefined)
  if (projectKey === undefined)
    throw new Failure('usage', 'The project is missing. Pass --project <slug or id>.')
  const project = await getRow(connection, projects, null, { named: projectKey, signal })
  const find = async (resource: Resource, named: string | undefined) => {
    if (named === undefined) return undefined
    return toLinkedObject(await getRow(connection, resource, project as ParentRow, { named, signal }))
  }
  const isSameProject = isSame && previous.project.id === project['id']
  const [app, environment] = [
    (await find(apps, options.app)) ?? (isSameProject ? previous.app : undefined),
    (await find(environments, options.environment)) ?? (isSameProject ? previous.environment : undefined),
  ]
  const link: Link = {
    url: connection.url,
    project: toLinkedObject(project),
    ...(app && { app }),
    ...(environment && { environment }),
  }
  await saveLink(terminal, folder, link)
  const row = toRow({ ...link, folder })
  printResult(terminal, format, `Linked ${folder} to ${formatObjects(link)}.`, row)
}

async function showLink({ terminal, format }: Context): Promise<void> {
  const link = await findLink(terminal)
  if (link === null)
    throw new Failure('notFound', 'This folder is not linked. To link it, run: svc link --project <project>')
  printRow(terminal, format, toRow(link))
}

async function removeFolderLink({ terminal }: Context): Promise<void> {
  const link = await findLink(terminal)
  const folder = await resolveFolder(terminal.cwd)
  if (link === null) return printRemark(terminal, 'This folder is not linked.')
  if (link.folder !== folder)
    throw new Failure('usage', `The link belongs to ${link.folder}. Run svc link --remove in that folder.`)
  await removeLink(terminal, folder)
  printRemark(terminal, `Removed the link of ${folder}.`)
}

const toLinkedObject = ({ id, slug, name }: Readonly<Record<string, unknown>>) => ({
  id: String(id),
  name: String(slug ?? name),
})

const toRow = ({ folder, url, project, app, environment }: FoundLink) => ({
  folder,
  url,
  project: project.name,
  app: app?.name ?? null,
  environment: environment?.name ?? null,
})

const formatObjects = ({ project, app, environment }: Link): string =>
  [
    `project ${project.name}`,
    ...(app === undefined ? [] : [`app ${app.name}`]),
    ...(environment === undefined ? [] : [`environment ${environment.name}`]),
  ].join(', ')
