// Tokens of machine users that `apply` makes: each in a file of its own. A file beside it, .pending, tells that a token may
// have been made that was never written; the next run replaces that token.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { ConnectionError, graphql } from '@manager/client'
import { rotateMachineUserTokenDocument } from '@manager/client/documents'
import { Failure } from '../failures.ts'
import type { Row } from '../output.ts'
import { ensurePrivateFolder, writePrivateFile } from '../private-files.ts'
import { createRow } from '../rows.ts'
import type { Node } from './document.ts'
import type { Planning, Step } from './step.ts'

/** Where the token goes; throws when the file does not say so. */
export function tokenFileOf({ tokenFile, path: name }: Node, { tokensFolder }: Planning): string {
  if (tokenFile !== null) return tokenFile
  if (tokensFolder === null)
    throw new Failure(
      'usage',
      `Where shall the token of machine user ${name} go? Give it a tokenFile, or add --tokens-dir <folder>.`,
    )
  return path.join(tokensFolder, `${name.replaceAll(/[^\w.-]/g, '-')}.token`)
}

const pendingOf = (file: string): string => `${file}.pending`

/** Whether a former run may have made a token that it could not write. */
export function isTokenPending(node: Node, planning: Planning): boolean {
  if (node.tokenFile === null && planning.tokensFolder === null) return false
  return existsSync(pendingOf(tokenFileOf(node, planning)))
}

/** Refuses to write over a token that may be in use. */
export function assertNoToken(file: string): void {
  if (existsSync(file))
    throw new Failure('usage', `${file} exists, and may hold a token that is in use. Move it away first.`)
}

/** Makes a machine user, and writes its token. */
export async function createWithToken(
  node: Node,
  planning: Planning,
  { environmentId, values }: { environmentId: string; values: Row },
): Promise<Row> {
  const { connection } = planning
  const make = () => createRow(connection, node.resource, { id: environmentId }, { values })
  return (await keep(tokenFileOf(node, planning), make)).row
}

/** Replaces the token that a former run has lost. */
export function replaceLostToken(node: Node, planning: Planning, id: string): Step {
  const file = tokenFileOf(node, planning)
  assertNoToken(file)
  return {
    action: 'update',
    kind: node.resource.one,
    path: node.path,
    changes: [{ field: 'token', before: '(lost)', after: '(new)' }],
    run: async () => {
      await keep(file, async () => {
        const answer = await graphql(planning.connection, rotateMachineUserTokenDocument, { id })
        return { secret: answer.rotateMachineUserToken.generatedToken }
      })
    },
  }
}

async function keep<Made extends { secret: string | null }>(
  file: string,
  make: () => Promise<Made>,
): Promise<Made> {
  await ensureFolder(path.dirname(file))
  await writePrivateFile(pendingOf(file), '')
  const made = await make().catch(async (error: unknown) => {
    // Where no answer came, a token may have been made all the same.
    if (!(error instanceof ConnectionError)) await rm(pendingOf(file), { force: true })
    throw error
  })
  if (made.secret === null) throw new Failure('failed', 'The Manager answered without a token.')
  await writePrivateFile(file, `${made.secret}\n`)
  await rm(pendingOf(file), { force: true })
  return made
}

/** A folder that is there keeps its rights; it may be the person's own. */
async function ensureFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) await ensurePrivateFolder(folder)
}
