// The options of commands that compare a document with the Manager, and the plan that they create.
import path from 'node:path'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { createRequestLimit } from '../request-limit.ts'
import { readDocument } from './document.ts'
import { RowLists } from './lists.ts'
import { resolveFolders } from './named-files.ts'
import { createPlan } from './plan.ts'
import { readSource } from './source.ts'
import { Ids, type Step } from './step.ts'

export type PlanOptions = {
  file: string
  prune?: boolean
  tokensDir?: string
  secrets?: boolean
  allowOutside?: string[]
}

/** Adds the options that select the document and its comparison. */
export const addPlanOptions = (command: Command): Command =>
  command
    .requiredOption(
      '-f, --file <file>',
      'the file, or - for standard input; file names in it are relative to its folder',
    )
    .option('--prune', 'delete objects that are missing in the lists of the file')
    .option('--tokens-dir <folder>', 'the folder for the tokens of new machine users')
    .option('--allow-outside <folder>', 'also allow files in this folder; may be repeated', addFolder)

function addFolder(folder: string, previousFolders: string[] = []): string[] {
  return [...previousFolders, folder]
}

/** Reads the document and returns the steps that make the Manager match it. */
export async function readPlan(
  context: Context,
  options: PlanOptions,
  { isPreview }: { isPreview: boolean },
): Promise<Step[]> {
  const { terminal, signal } = context
  const folders = await resolveFolders(options.file, options.allowOutside ?? [])
  const nodes = await readDocument(await readSource(terminal, options.file), folders)
  const connection = await context.connect()
  const limit = createRequestLimit()
  const documentFolder = path.resolve(path.dirname(options.file))
  const tokensFolder = options.tokensDir === undefined ? null : path.resolve(options.tokensDir)
  const planning = {
    connection,
    signal,
    ids: new Ids(),
    lists: new RowLists(connection, signal, limit),
    limit,
    folders,
    documentFolder,
    // A preview writes no tokens, so any folder is sufficient.
    tokensFolder: tokensFolder ?? (isPreview ? documentFolder : null),
    withSecrets: options.secrets === true,
    isPruning: options.prune === true,
    isPreview,
  }
  return createPlan(planning, nodes)
}
