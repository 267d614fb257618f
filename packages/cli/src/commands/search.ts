// search: finds objects of all kinds by a part of a name, or by an id.
import { graphql } from '@manager/client'
import { searchDocument } from '@manager/client/documents'
import { type Command, InvalidArgumentError } from 'commander'
import { addCommand, setAction } from '../context.ts'
import { addValue, parseCount } from '../list-options.ts'
import { printRemark, printRows } from '../output.ts'
import { type ParentOptions, getProject } from '../parents.ts'
import type { Terminal } from '../terminal.ts'

type Options = ParentOptions & { kind?: string[]; limit: number }
const kinds = [
  'project',
  'tenant',
  'application',
  'environment',
  'endpoint',
  'trigger',
  'triggerRun',
  'machineUser',
  'languagePack',
  'piletPackage',
  'user',
  'loggedCall',
]

export function addSearchCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'search',
    description:
      'Find objects by a part of a name, slug, e-mail address or user name (at least three characters), or by a complete id.',
    examples: ['search acme', 'search orders --kind endpoint -p shop'],
  })
    .argument('<text>', 'the text to search for')
    .option('--kind <kind>', 'a kind to search for, such as tenant; may be repeated', addKind)
    .option('-p, --project <project>', 'search only in this project, by slug or id')
    .option('--limit <number>', 'the maximum number of objects, up to 50', parseCount, 20)
  setAction<Options>(command, terminal, async (context, [text = ''], options) => {
    const connection = await context.connect()
    const { project, kind, limit } = options
    const variables = {
      text,
      limit,
      ...(kind === undefined ? {} : { kinds: kind }),
      ...(project === undefined ? {} : { projectId: (await getProject(context, connection, options)).id }),
    }
    const { search } = await graphql(connection, searchDocument, variables, { signal: context.signal })
    printRows(terminal, context.format, ['kind', 'title', 'subtitle', 'matchedField', 'id'], search.hits)
    if (!search.isComplete)
      printRemark(terminal, 'There are more matches. Use a longer text, --kind, --project or --limit.')
  })
}

function addKind(kind: string, previous?: readonly string[]): string[] {
  if (!kinds.includes(kind)) throw new InvalidArgumentError(`Use one of: ${kinds.join(', ')}.`)
  return addValue(kind, previous)
}
