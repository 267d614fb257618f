// Tokens of machine users that `apply` makes: each in a file of its own. A file beside it, .pending, tells that a token may
// have been made that was never written; the next run replaces that token.
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
import { type Folders, refuseOpenedOutside, refuseOutside } from './named-files.ts'
import type { FieldChange, Planning, Step } from './step.ts'

/** Whether the Manager makes a token for it: a machine user without a password. */
export const getsToken = ({ resource, secrets }: Node): boolean =>
  resource === machineUsers && secrets['hashedKey'] === undefined

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

/** What a plan says about a token that will be written. */
export const tokenChange = (node: Node, planning: Planning, before: string | null): FieldChange => ({
  field: 'token',
  file: path.relative(planning.documentFolder, tokenFileOf(node, planning)),
  before,
  after: '(new)',
})

const pendingOf = (file: string): string => `${file}.pending`

/** Refuses a file in which two machine users have their token at one place, now or when they are made. */
export function refuseSharedTokenFiles(nodes: readonly Node[], planning: Planning): void {
  const owners = new Map<string, string>()
  for (const node of nodes.flatMap(withAllBelow)) {
    if (!getsToken(node) || !hasTokenFile(node, planning)) continue
    const file = tokenFileOf(node, planning)
    for (const used of [file, pendingOf(file)]) {
      const other = owners.get(used)
      if (other !== undefined)
        throw new Failure(
          'usage',
          `The tokens of machine users ${other} and ${node.path} would both go into ${file}. Give each a tokenFile of its own.`,
        )
      owners.set(used, node.path)
    }
  }
}

const withAllBelow = (node: Node): Node[] => [node, ...node.children.flatMap(withAllBelow)]
const hasTokenFile = ({ tokenFile }: Node, { tokensFolder }: Planning): boolean =>
  tokenFile !== null || tokensFolder !== null

/** Whether a former run may have made a token that it could not write. */
export function isTokenPending(node: Node, planning: Planning): boolean {
  return hasTokenFile(node, planning) && existsSync(pendingOf(tokenFileOf(node, planning)))
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
  return (await keep(placeOf(node, planning), make)).row
}

/** A file that the document names must be in one of the folders; the person named the folder of any other. */
type Place = { file: string; folders: Folders | null }
const placeOf = (node: Node, planning: Planning): Place => ({
  file: tokenFileOf(node, planning),
  folders: node.tokenFile === null ? null : planning.folders,
})

/** Replaces the token that a former run has lost. */
export function replaceLostToken(node: Node, planning: Planning, id: string): Step {
  const place = placeOf(node, planning)
  assertNoToken(place.file)
  return {
    action: 'update',
    kind: node.resource.one,
    path: node.path,
    changes: [tokenChange(node, planning, '(lost)')],
    run: async () => {
      await keep(place, async () => {
        const answer = await graphql(planning.connection, rotateMachineUserTokenDocument, { id })
        return { secret: answer.rotateMachineUserToken.generatedToken }
      })
    },
  }
}

async function keep<Made extends { secret: string | null }>(
  { file, folders }: Place,
  make: () => Promise<Made>,
): Promise<Made> {
  // Links may have changed since the plan was made.
  if (folders !== null) await refuseOutside(folders, file)
  await ensureFolder(path.dirname(file))
  // Another name of the same file may have been written since the plan was made.
  assertNoToken(file)
  const isLost = existsSync(pendingOf(file))
  if (!isLost) await writePrivateFile(pendingOf(file), '')
  const made = await make().catch(async (error: unknown) => {
    // What a former run has lost stays lost.
    if (!isLost && isRefused(error)) await rm(pendingOf(file), { force: true })
    throw error
  })
  if (made.secret === null) throw new Failure('failed', 'The Manager answered without a token.')
  await replacePrivateFile(file, async (handle, beside) => {
    if (folders !== null) await refuseOpenedOutside(folders, handle, beside)
    await handle.writeFile(`${made.secret}\n`)
  })
  await rm(pendingOf(file), { force: true })
  return made
}

const broken = new Set(['internal', 'bad_gateway', 'unavailable'])
/** Whether nothing was made for sure. Where no answer came, or one that something broke, a token may have been made. */
const isRefused = (error: unknown): boolean =>
  error instanceof GraphqlError
    ? !broken.has(error.code ?? '')
    : error instanceof ResponseError && error.status >= 400 && error.status < 500

/** A folder that is there keeps its rights; it may be the person's own. */
async function ensureFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) await ensurePrivateFolder(folder)
}
