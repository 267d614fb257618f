// access: lists what a person can reach, or who can reach an object, with the reasons.
import { type Connection, graphql } from '@manager/client'
import { effectiveAccessDocument, whoCanReachDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { type Listed, addListOptions, printListed } from '../list-options.ts'
import { type Row, printRemark } from '../output.ts'
import { type CursorPage, readPages } from '../pages.ts'
import { type ParentOptions, getProject } from '../parents.ts'
import { getUser } from '../people.ts'
import { addScopeOptions, getScope } from '../scopes.ts'
import type { Terminal } from '../terminal.ts'

type Options = ParentOptions & { limit: number }
type AccessPage = CursorPage & { hiddenKinds: readonly string[] }
const defaultLimit = 1_000

export function addAccessCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'access',
    description: 'Access: who can reach what, and why',
    examples: ['access who -p shop'],
  })
  const who = addCommand(group, {
    name: 'who',
    description: 'List everyone who has access to a project, a tenant or an app, and why.',
    examples: ['access who -p shop', 'access who -p shop -t acme'],
  })
  addListOptions(addScopeOptions(who), { hasFilters: false, limit: defaultLimit })
  setAction<Options>(who, terminal, async (context, _args, { limit, ...options }) => {
    const connection = await context.connect()
    const { kind, id } = await getScope(context, connection, options)
    const object = { [kind === 'app' ? 'application' : kind]: id }
    await listAccess(context, limit, ['user', 'email', 'object', 'role', 'reasons'], async (request) => {
      const variables = { ...object, ...request }
      return (await graphql(connection, whoCanReachDocument, variables, context)).whoCanReach
    })
  })
  addOfCommand(group, terminal)
}

function addOfCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'of',
    description: 'List everything that a user has access to, and why.',
    examples: ['access of ann@acme.example', 'access of ann@acme.example -p shop'],
  })
    .argument('<user>', 'the user, by e-mail address, user name or id')
    .option('-p, --project <project>', 'list only access in this project, by slug or id')
  addListOptions(command, { hasFilters: false, limit: defaultLimit })
  setAction<Options>(command, terminal, async (context, [named = ''], { limit, ...options }) => {
    const connection = await context.connect()
    const user = String((await getUser(connection, named, context))['id'])
    const project = await findProjectFilter(context, connection, options)
    await listAccess(context, limit, ['object', 'role', 'permissions', 'reasons'], async (request) => {
      const variables = { user, ...project, ...request }
      return (await graphql(connection, effectiveAccessDocument, variables, context)).effectiveAccess
    })
  })
}

const findProjectFilter = async (context: Context, connection: Connection, options: ParentOptions) =>
  options.project === undefined ? {} : { project: (await getProject(context, connection, options)).id }

async function listAccess(
  context: Context,
  limit: number,
  columns: readonly string[],
  fetchPage: (request: Parameters<Parameters<typeof readPages>[1]>[0]) => Promise<AccessPage>,
): Promise<void> {
  const hiddenKinds = new Set<string>()
  const listed: Listed = await readPages(limit, async (request) => {
    const page = await fetchPage(request)
    for (const kind of page.hiddenKinds) hiddenKinds.add(kind)
    return page
  })
  const rows = context.format === 'table' ? listed.rows.map(formatAccess) : listed.rows
  printListed(context, columns, { ...listed, rows })
  if (hiddenKinds.size > 0)
    printRemark(context.terminal, `You may not see all roles of these kinds: ${[...hiddenKinds].join(', ')}.`)
}

/** Shows the most specific object of the access, and one word per reason. */
function formatAccess(row: Row): Row {
  const user = row['user'] as Row | null
  const object = (row['application'] ?? row['tenant'] ?? row['project']) as Row | null
  const reasons = row['reasons'] as readonly { kind: string; role: string }[]
  return {
    ...row,
    user: user?.['externalUsername'],
    email: user?.['externalEmail'],
    object: [toWords(String(row['scope'])), object?.['slug']].filter(Boolean).join(' '),
    reasons: reasons.map(({ kind, role }) => `${toWords(kind)} ${role}`),
  }
}

/** Converts a name of the API, such as PROJECT_ROLE, to words. */
const toWords = (name: string): string => name.toLowerCase().replaceAll('_', ' ')
