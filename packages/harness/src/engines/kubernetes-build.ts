// Builds kube-apiserver and kube-controller-manager from Debian's source package into a cache folder, once
// per machine: `node packages/harness/src/engines/kubernetes-build.ts`. The build needs Debian, root, and 5
// to 15 minutes on two cores. Debian does not package the server. Its source package is signed, so the build
// uses exactly the source that Debian published.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { ensureKubernetesBuild } from './install.ts'

/** The Debian release whose source package is built, and its Kubernetes version. */
const suite = 'bookworm'
export const kubernetesVersion = 'v1.20.2'

const kubernetesPrograms = ['kube-apiserver', 'kube-controller-manager'] as const

/** Returns the folder with both programs. Builds them if they are missing. */
export function ensureKubernetes(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache')
  const folder = path.join(cache, 'manager-kubernetes', kubernetesVersion)
  if (kubernetesPrograms.every((program) => existsSync(path.join(folder, program)))) return folder
  ensureKubernetesBuild()
  process.stderr.write(
    'building kube-apiserver and kube-controller-manager, which needs 5 to 15 minutes ...\n',
  )
  mkdirSync(folder, { recursive: true })
  const work = mkdtempSync(path.join(folder, 'build-'))
  try {
    build(work)
    // The programs are moved only after both are built, so that the next run repeats an interrupted build.
    for (const program of kubernetesPrograms) renameSync(path.join(work, program), path.join(folder, program))
  } finally {
    // Go makes the folders of its module cache read-only.
    execFileSync('chmod', ['-R', 'u+w', work])
    rmSync(work, { recursive: true, force: true })
  }
  return folder
}

function build(work: string): void {
  const root = path.join(work, 'gopath/src/k8s.io/kubernetes')
  fetchSource(work)
  mkdirSync(path.dirname(root), { recursive: true })
  const [archive] = globSync(path.join(work, 'source/kubernetes_*.orig.tar.gz'))
  if (archive === undefined) throw new Error('apt-get downloaded no Kubernetes source archive')
  mkdirSync(root)
  run('tar', ['xzf', archive, '--strip-components=1', '-C', root], work)
  generateOpenApi(work, root)
  const version = 'k8s.io/kubernetes/vendor/k8s.io/component-base/version'
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(kubernetesVersion) ?? []
  const flags = [`gitVersion=${kubernetesVersion}`, `gitMajor=${major}`, `gitMinor=${minor}`]
  const ldflags = flags.map((flag) => `-X ${version}.${flag}`).join(' ')
  for (const program of kubernetesPrograms)
    goBuild(work, root, [
      '-ldflags',
      ldflags,
      '-o',
      path.join(work, program),
      `k8s.io/kubernetes/cmd/${program}`,
    ])
}

/** Uses separate apt lists, so that the system's package sources stay unchanged. */
function fetchSource(work: string): void {
  for (const folder of ['lists/partial', 'cache/archives/partial', 'source'])
    mkdirSync(path.join(work, folder), { recursive: true })
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
  writeFileSync(path.join(work, 'sources.list'), `deb-src [signed-by=${keyring}] ${mirror()} ${suite} main\n`)
  const settings = {
    'Dir::Etc::SourceList': path.join(work, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': path.join(work, 'lists'),
    'Dir::Cache': path.join(work, 'cache'),
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  run('apt-get', [...options, 'update', '-qq'], work)
  run('apt-get', [...options, 'source', '-qq', '--download-only', 'kubernetes'], path.join(work, 'source'))
}

/** Returns the mirror that the machine is configured to use. */
function mirror(): string {
  const files = ['/etc/apt/sources.list', ...globSync('/etc/apt/sources.list.d/*.{list,sources}')]
  const text = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'))
  return /^(?:URIs:|deb ).*?(https?:\/\/\S+)/m.exec(text.join('\n'))?.[1] ?? 'http://deb.debian.org/debian'
}

/** Generates a file that Debian's source archive lacks. The server does not compile without it. */
function generateOpenApi(work: string, root: string): void {
  const generator = path.join(work, 'openapi-gen')
  goBuild(work, root, ['-o', generator, 'k8s.io/kubernetes/vendor/k8s.io/kube-openapi/cmd/openapi-gen'])
  const marked = run(
    'grep',
    ['-rl', '--include=*.go', '-E', '\\+k8s:openapi-gen=', 'staging/src/k8s.io', 'pkg'],
    root,
  )
  const folders = new Set(
    marked
      .trim()
      .split('\n')
      .map((file) => path.dirname(file)),
  )
  const inputs = [...folders]
    .filter((folder) => !/testdata|sample|code-generator|\/test\/|metrics\//.test(`${folder}/`))
    .map((folder) => folder.replace(/^staging\/src\//, 'vendor/'))
    .map((folder) => `k8s.io/kubernetes/${folder}`)
  const target = 'k8s.io/kubernetes/pkg/generated/openapi'
  const out = path.join(work, 'generated')
  run(
    generator,
    [
      '-O',
      'zz_generated.openapi',
      '-p',
      target,
      '-i',
      inputs.toSorted().join(','),
      '--output-base',
      out,
      '-h',
      'vendor/k8s.io/code-generator/hack/boilerplate.go.txt',
      '-r',
      path.join(work, 'violations'),
    ],
    root,
    goEnvironment(work),
  )
  const file = 'zz_generated.openapi.go'
  renameSync(path.join(out, target, file), path.join(root, 'pkg/generated/openapi', file))
}

const goEnvironment = (work: string): Record<string, string> => ({
  GO111MODULE: 'off',
  GOPATH: path.join(work, 'gopath'),
  GOCACHE: path.join(work, 'go-cache'),
  CGO_ENABLED: '0',
  GOFLAGS: '-p=2',
})

const goBuild = (work: string, root: string, args: string[]): string =>
  run('go', ['build', ...args], root, goEnvironment(work))

function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}): string {
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  })
}

if (import.meta.main) process.stdout.write(`${ensureKubernetes()}\n`)
