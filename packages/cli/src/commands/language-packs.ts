// The command `language-packs set`, which changes single translations.
import { graphql } from '@manager/client'
import { setLanguagePackKeysDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { addValue } from '../list-options.ts'
import { printResult } from '../output.ts'
import { parsePair } from '../pairs.ts'
import { type ParentOptions, addParentOptions, getProject } from '../parents.ts'
import { findNamedRow } from '../resource-commands.ts'
import { languagePacks } from '../resources/language-packs.ts'
import { formatCount } from '../words.ts'
import type { Terminal } from '../terminal.ts'

export function addLanguagePackCommands(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'set',
    description: 'Set and remove single translations. Other translations are kept.',
    examples: [
      'language-packs set en cart.title=Basket -p shop',
      'language-packs set en --remove cart.old -p shop',
    ],
  })
    .argument('<language-pack>', 'the language pack, by name or id')
    .argument('[key=value...]', 'the translations to set')
    .option('--remove <key>', 'a key to remove; may be repeated', addValue)
  addParentOptions(command, 'project')
  setAction<ParentOptions & { remove?: string[] }>(command, terminal, async (context, args, options) => {
    const [named = '', ...texts] = args
    const { remove: unset = [] } = options
    const set = texts.map(parsePair)
    if (set.length + unset.length === 0)
      throw new Failure('usage', 'Nothing to change. Pass <key=value> or --remove <key>.')
    const { connection, row } = await findNamedRow(context, languagePacks, named, options)
    const project = await getProject(context, connection, options)
    const variables = { projectId: project.id, changes: [{ packId: String(row['id']), set, unset }] }
    const result = await graphql(connection, setLanguagePackKeysDocument, variables, context)
    const sentence = `Changed ${formatCount(set.length + unset.length, 'translation')} in language pack ${named}.`
    printResult(terminal, context.format, sentence, result.setLanguagePackKeys[0] ?? {})
  })
}
