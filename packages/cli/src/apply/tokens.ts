// `apply` writes each created machine user token to a separate file. A .pending file next to the token file
// means that an earlier run may have created a token without storing it. The next run replaces that token.
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

/** Returns whether the Manager issues a token, which it does for a machine user without a password. */
export const hasGeneratedToken = ({ resource, secrets }: Node): boolean =>
  resource === machineUsers && secrets['hashedKey'] === undefined

/** Returns the path of the token file. Throws if neither the document nor --tokens-dir determines the path. */
export function getTokenFile({ tokenFile, path: name }: Node, { tokensFolder }: Planning): string {
  if (tokenFile !== null) return tokenFile
  if (tokensFolder === null)
    throw new Failure(
      'usage',
      `No token file for machine user ${name}. Set tokenFile, or pass --tokens-dir <folder>.`,
    )
  return path.join(tokensFolder, `${name.replaceAll(/[^\w.-]/g, '-')}.token`)
}

/** Returns the change that the plan shows for a token that will be written. */
export const createTokenChange = (node: Node, planning: Planning, before: string | null): FieldChange => ({
  field: 'token',
  file: path.relative(planning.documentFolder, getTokenFile(node, planning)),
  before,
  after: '(new)',
})

const getPendingPath = (file: string): string => `${file}.pending`

/** Rejects two machine users with the same token file, whether or not they exist yet. */
export function rejectSharedTokenFiles(nodes: readonly Node[], planning: Planning): void {
  const owners = new Map<string, string>()
  for (const node of nodes.flatMap(listWithDescendants)) {
    if (!hasGeneratedToken(node) || !hasTokenFile(node, planning)) continue
    const file = getTokenFile(node, planning)
    for (const usedFile of [file, getPendingPath(file)]) {
      const otherPath = owners.get(usedFile)
      if (otherPath !== undefined)
        throw new Failure(
          'usage',
          `Machine users ${otherPath} and ${node.path} have the same token file ${file}. Set a separate tokenFile for each.`,
        )
      owners.set(usedFile, node.path)
    }
  }
}

const listWithDescendants = (node: Node): Node[] => [node, ...node.children.flatMap(listWithDescendants)]
const hasTokenFile = ({ tokenFile }: Node, { tokensFolder }: Planning): boolean =>
  tokenFile !== null || tokensFolder !== null

/** Returns whether an earlier run may have created a token without writing it. */
export function isTokenPending(node: Node, planning: Planning): boolean {
  return hasTokenFile(node, planning) && existsSync(getPendingPath(getTokenFile(node, planning)))
}

/** Throws if the file exists, because it may contain a token in use. */
export function assertNoToken(file: string): void {
  if (existsSync(file))
    throw new Failure('usage', `${file} already exists and may contain a token in use. Move the file first.`)
}

/** Creates a machine user and writes its token. */
export async function createMachineUserWithToken(
  node: Node,
  planning: Planning,
  { environmentId, values }: { environmentId: string; values: Row },
): Promise<Row> {
  const { connection } = planning
  const create = () => createRow(connection, node.resource, { id: environmentId }, { values })
  return (await storeToken(getTokenTarget(node, planning), create)).row
}

/**
 * `folders` is null for a file in --tokens-dir, because the user chose that folder and the document did not.
 */
type TokenTarget = { file: string; folders: Folders | null }
const getTokenTarget = (node: Node, planning: Planning): TokenTarget => ({
  file: getTokenFile(node, planning),
  folders: node.tokenFile === null ? null : planning.folders,
})

/** Replaces a token that an earlier run created but did not write. */
export function replaceLostToken(node: Node, planning: Planning, id: string): Step {
  const target = getTokenTarget(node, planning)
  assertNoToken(target.file)
  return {
    action: 'update',
    kind: node.resource.singular,
    path: node.path,
    changes: [createTokenChange(node, planning, '(lost)')],
    run: async () => {
      await storeToken(target, async () => {
        const result = await graphql(planning.connection, rotateMachineUserTokenDocument, { id })
        return { secret: result.rotateMachineUserToken.generatedToken }
      })
    },
  }
}

async function storeToken<Result extends { secret: string | null }>(
  { file, folders }: TokenTarget,
  create: () => Promise<Result>,
): Promise<Result> {
  // Symbolic links may have changed since planning.
  if (folders !== null) await assertWithinFolders(folders, file)
  await ensureFolder(path.dirname(file))
  // Another path may lead to the same file, and an earlier step may have written that file since planning.
  assertNoToken(file)
  const hasLostToken = existsSync(getPendingPath(file))
  if (!hasLostToken) await writePrivateFile(getPendingPath(file), '')
  const result = await create().catch(async (error: unknown) => {
    // Keep the .pending file of an earlier run, because that run's token is still lost.
    if (!hasLostToken && isRejected(error)) await rm(getPendingPath(file), { force: true })
    throw error
  })
  if (result.secret === null) throw new Failure('failed', 'The Manager returned no token.')
  await replacePrivateFile(file, async (handle, temporaryFile) => {
    if (folders !== null) await assertOpenedWithinFolders(folders, handle, temporaryFile)
    await handle.writeFile(`${result.secret}\n`)
  })
  await rm(getPendingPath(file), { force: true })
  return result
}

const serverErrorCodes = new Set(['internal', 'bad_gateway', 'unavailable'])
/**
 * Returns whether the error proves that no token was created. If there is no response, or the response reports a
 * server error, a token may exist.
 */
const isRejected = (error: unknown): boolean =>
  error instanceof GraphqlError
    ? !serverErrorCodes.has(error.code ?? '')
    : error instanceof ResponseError && error.status >= 400 && error.status < 500

/**
 * Creates the folder if it does not exist. An existing folder keeps its permissions, which the user may have chosen.
 */
async function ensureFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) await ensurePrivateFolder(folder)
}
