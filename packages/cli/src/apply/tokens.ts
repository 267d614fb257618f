// `apply` writes each machine user token that it creates to a separate file. A .pending file next to it means that a
// token may exist that was never written. The next run replaces that token.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { GraphqlError, ResponseError, graphql } from '@manager/client'
import { rotateMachineUserTokenDocument } from '@manager/client/documents'
import { Failure } from '../failures.ts'
import type { Row } from '../output.ts'
import { ensurePrivateFolder, replacePrivateFile, writePrivateFile } from '../private-files.ts'
import { machineUsers } from '../resources/machine-users.ts'
import { createRow } from '../rows.ts'
import type { Node } from './document.ts'
import { type Folders, assertOpenedWithinFolders, assertWithinFolders } from './named-files.ts'
import type { FieldChange, Planning, Step } from './step.ts'

/** Whether the Manager issues a token: it does so for a machine user without a password. */
export const hasGeneratedToken = ({ resource, secrets }: Node): boolean =>
  resource === machineUsers && secrets['hashedKey'] === undefined

/** Returns the path of the token file. Throws if neither the document nor --tokens-dir determines it. */
export function tokenFileOf({ tokenFile, path: name }: Node, { tokensFolder }: Planning): string {
  if (tokenFile !== null) return tokenFile
  if (tokensFolder === null)
    throw new Failure(
      'usage',
      `No token file for machine user ${name}. Set tokenFile, or pass --tokens-dir <folder>.`,
    )
  return path.join(tokensFolder, `${name.replaceAll(/[^\w.-]/g, '-')}.token`)
}

/** The change that the plan shows for a token that will be written. */
export const tokenChange = (node: Node, planning: Planning, before: string | null): FieldChange => ({
  field: 'token',
  file: path.relative(planning.documentFolder, tokenFileOf(node, planning)),
  before,
  after: '(new)',
})

const pendingOf = (file: string): string => `${file}.pending`

/** Rejects two machine users with the same token file, whether or not they exist yet. */
export function rejectSharedTokenFiles(nodes: readonly Node[], planning: Planning): void {
  const owners = new Map<string, string>()
  for (const node of nodes.flatMap(withDescendants)) {
    if (!hasGeneratedToken(node) || !hasTokenFile(node, planning)) continue
    const file = tokenFileOf(node, planning)
    for (const used of [file, pendingOf(file)]) {
      const other = owners.get(used)
      if (other !== undefined)
        throw new Failure(
          'usage',
          `Machine users ${other} and ${node.path} have the same token file ${file}. Set a separate tokenFile for each.`,
        )
      owners.set(used, node.path)
    }
  }
}

const withDescendants = (node: Node): Node[] => [node, ...node.children.flatMap(withDescendants)]
const hasTokenFile = ({ tokenFile }: Node, { tokensFolder }: Planning): boolean =>
  tokenFile !== null || tokensFolder !== null

/** Whether an earlier run may have created a token without writing it. */
export function isTokenPending(node: Node, planning: Planning): boolean {
  return hasTokenFile(node, planning) && existsSync(pendingOf(tokenFileOf(node, planning)))
}

/** Refuses to overwrite a token that may be in use. */
export function assertNoToken(file: string): void {
  if (existsSync(file))
    throw new Failure('usage', `${file} already exists and may contain a token in use. Move it first.`)
}

/** Creates a machine user and writes its token. */
export async function createWithToken(
  node: Node,
  planning: Planning,
  { environmentId, values }: { environmentId: string; values: Row },
): Promise<Row> {
  const { connection } = planning
  const create = () => createRow(connection, node.resource, { id: environmentId }, { values })
  return (await storeToken(tokenTargetOf(node, planning), create)).row
}

/** `folders` is null for a file in --tokens-dir: the user chose that folder, not the document. */
type TokenTarget = { file: string; folders: Folders | null }
const tokenTargetOf = (node: Node, planning: Planning): TokenTarget => ({
  file: tokenFileOf(node, planning),
  folders: node.tokenFile === null ? null : planning.folders,
})

/** Replaces a token that an earlier run created but did not write. */
export function replaceLostToken(node: Node, planning: Planning, id: string): Step {
  const target = tokenTargetOf(node, planning)
  assertNoToken(target.file)
  return {
    action: 'update',
    kind: node.resource.singular,
    path: node.path,
    changes: [tokenChange(node, planning, '(lost)')],
    run: async () => {
      await storeToken(target, async () => {
        const answer = await graphql(planning.connection, rotateMachineUserTokenDocument, { id })
        return { secret: answer.rotateMachineUserToken.generatedToken }
      })
    },
  }
}

async function storeToken<Created extends { secret: string | null }>(
  { file, folders }: TokenTarget,
  create: () => Promise<Created>,
): Promise<Created> {
  // Symbolic links may have changed since planning.
  if (folders !== null) await assertWithinFolders(folders, file)
  await ensureFolder(path.dirname(file))
  // The same file may have been written under another name since planning.
  assertNoToken(file)
  const isLost = existsSync(pendingOf(file))
  if (!isLost) await writePrivateFile(pendingOf(file), '')
  const created = await create().catch(async (error: unknown) => {
    // The marker of an earlier run stays, because the token of that run is still lost.
    if (!isLost && isRejected(error)) await rm(pendingOf(file), { force: true })
    throw error
  })
  if (created.secret === null) throw new Failure('failed', 'The Manager returned no token.')
  await replacePrivateFile(file, async (handle, temporaryFile) => {
    if (folders !== null) await assertOpenedWithinFolders(folders, handle, temporaryFile)
    await handle.writeFile(`${created.secret}\n`)
  })
  await rm(pendingOf(file), { force: true })
  return created
}

const serverErrorCodes = new Set(['internal', 'bad_gateway', 'unavailable'])
/** Whether the request certainly created no token. Without a response, or after a server error, a token may exist. */
const isRejected = (error: unknown): boolean =>
  error instanceof GraphqlError
    ? !serverErrorCodes.has(error.code ?? '')
    : error instanceof ResponseError && error.status >= 400 && error.status < 500

/** Keeps the permissions of an existing folder, because the user may have chosen them. */
async function ensureFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) await ensurePrivateFolder(folder)
}
