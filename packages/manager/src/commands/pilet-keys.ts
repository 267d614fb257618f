import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { type SignedPackages, createPackageSigning } from '../features/pilets/sign-packages.service.ts'
import { type Signing, createSigning } from '../features/pilets/signing.service.ts'
import type { ListedKey } from '../features/pilets/signing.store.ts'
import { type Audit, createAudit } from '../platform/audit/append.ts'
import type { Database } from '../platform/postgres/database.ts'
import { encryptionRing } from '../platform/secrets/keys.ts'
import { createLockMasterKey } from '../platform/secrets/master-key.ts'
import { createSecrets } from '../platform/secrets/secrets.ts'
import { commandConfig, silentLog, withKeyedDatabase } from './context.ts'
import { counted, table } from './table.ts'
import type { Terminal } from './terminal.ts'

/** manager pilet-keys … */
export function addPiletKeysCommands(program: Command, terminal: Terminal): void {
  const keys = program
    .command('pilet-keys')
    .description('Manage the keys that sign pilets, and sign stored pilets.')
    .addHelpText(
      'after',
      `
To rotate the signing key while the service runs:
  1. $ npm run manager -- pilet-keys create
  2. $ npm run --silent manager -- pilet-keys export > pilet-signing-keys.json
     Deploy the file to your pages as pilet_signing_keys, and wait until all of them have it.
  3. $ npm run manager -- pilet-keys activate 3f2a9c0d81b7e654
  4. Keep the previous key: pages need it to verify earlier signatures.`,
    )
  addCreateCommand(keys, terminal)
  addListCommand(keys, terminal)
  addActivateCommand(keys, terminal)
  addExportCommand(keys, terminal)
  addSignCommand(keys, terminal)
  addDeleteCommand(keys, terminal)
}

const examples = (...lines: string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`

function addCreateCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('create')
    .description(
      'Create a key. It signs after activation; the first key of an installation is active immediately.',
    )
    .addHelpText('after', examples('npm run manager -- pilet-keys create'))
    .action(async (_options, command: Command) => {
      const { keyId, isActive } = await withSigning(commandConfig(terminal, command), ({ signing }) =>
        signing.create(),
      )
      terminal.say(
        isActive
          ? `${keyId} was created and is active, because it is the first key.`
          : `${keyId} was created. It is not active yet.`,
      )
      terminal.say(
        'Next: run `manager pilet-keys export` and deploy the result to your pages as pilet_signing_keys.',
      )
      if (!isActive)
        terminal.say(`Then, when all pages have it: run \`manager pilet-keys activate ${keyId}\`.`)
    })
}

function addListCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('list')
    .description('List the keys, oldest first, with state, activation time and number of signed pilets.')
    .option('--json', 'print one JSON object per key instead of a table')
    .addHelpText(
      'after',
      examples('npm run manager -- pilet-keys list', 'npm run --silent manager -- pilet-keys list --json'),
    )
    .action(async (options: { json?: boolean }, command: Command) => {
      const [found, { unsigned, unstated }] = await withSigning(
        commandConfig(terminal, command),
        async ({ signing }) => [await signing.list(), await signing.countUnsigned()],
      )
      for (const line of options.json === true ? found.map(asJson) : asTable(found)) terminal.say(line)
      // Printed to standard error, because --json must keep standard output machine-readable.
      if (found.length === 0) terminal.warn('There is no key yet. The first upload creates one.')
      if (unsigned > 0)
        terminal.warn(
          `${pilets(unsigned)} no signature. Sign ${unsigned === 1 ? 'it' : 'them'} with \`manager pilet-keys sign\`.`,
        )
      if (unstated > 0)
        terminal.warn(
          `${pilets(unstated)} no statement. Create ${unstated === 1 ? 'it' : 'them'} with \`manager pilet-keys sign\`.`,
        )
    })
}

const pilets = (count: number): string => (count === 1 ? '1 pilet has' : `${count} pilets have`)

function addActivateCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('activate')
    .description('Make this key the active one. The previous key stays, for earlier signatures.')
    .argument('<key-id>', 'id of the key, as printed by `manager pilet-keys list`')
    .addHelpText(
      'after',
      `
Pages reject signatures of unknown keys: export the key and deploy it to your pages first.
${examples('npm run manager -- pilet-keys activate 3f2a9c0d81b7e654')}`,
    )
    .action(async (keyId: string, _options, command: Command) => {
      const changed = await withSigning(commandConfig(terminal, command), ({ signing }) =>
        signing.activate(keyId),
      )
      terminal.say(changed ? `${keyId} is now active.` : `${keyId} is already active.`)
    })
}

function addExportCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('export')
    .description('Print the public keys for pages: a JSON object that maps key ids to raw keys in base64.')
    .option('--pretty', 'print one key per line')
    .addHelpText(
      'after',
      `
Pages receive the object as window.__SVC__.config.pilet_signing_keys. It contains no private keys.
${examples('npm run --silent manager -- pilet-keys export > pilet-signing-keys.json')}`,
    )
    .action(async (options: { pretty?: boolean }, command: Command) => {
      const publicKeys = await withSigning(commandConfig(terminal, command), ({ signing }) =>
        signing.publicKeys(),
      )
      if (Object.keys(publicKeys).length === 0)
        throw new Error('there is no key to export; create the first one with `manager pilet-keys create`')
      // `say` would escape the line breaks of --pretty.
      terminal.stdout.write(`${JSON.stringify(publicKeys, null, options.pretty === true ? 2 : undefined)}\n`)
    })
}

function addSignCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('sign')
    .description(
      'Sign stored pilets without a signature or statement with the active key. Safe to repeat at any time.',
    )
    .option('--replacing <key-id>', 'sign the pilets of this key again')
    .addHelpText(
      'after',
      `
Exits 1 and lists the pilets if stored bytes are damaged or do not match their signature.
${examples('npm run manager -- pilet-keys sign', 'npm run manager -- pilet-keys sign --replacing 3f2a9c0d81b7e654')}`,
    )
    .action(async ({ replacing = null }: { replacing?: string | null }, command: Command) => {
      const { signed, damaged } = await withSigning(commandConfig(terminal, command), (scope) =>
        signStored(scope, replacing, (done) => terminal.progress(`\rpilets ${done}`)),
      )
      terminal.progress('\n')
      terminal.say(`Signed ${counted(signed, 'pilet')}.`)
      for (const one of damaged) terminal.warn(damageOf(one))
      if (damaged.length === 0) return
      terminal.warn('These pilets were not signed. Upload them again under a new version.')
      terminal.exitCode = 1
    })
}

function addDeleteCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('delete')
    .description('Delete a key that is not active and has signed no pilet. This cannot be undone.')
    .argument('<key-id>', 'id of the key, as printed by `manager pilet-keys list`')
    .addHelpText('after', examples('npm run manager -- pilet-keys delete 3f2a9c0d81b7e654'))
    .action(async (keyId: string, _options, command: Command) => {
      await withSigning(commandConfig(terminal, command), ({ signing }) => signing.remove(keyId))
      terminal.say(`Deleted ${keyId}. Export the keys again and deploy them to your pages.`)
    })
}

const damages = {
  bytes: 'the stored bytes SHA256 are missing or incomplete',
  signature: 'its signature does not match its bytes',
  statement: 'its bytes look like a signing statement, so its signature could be misused for another pilet',
}
const damageOf = ({ project, name, version, sha256, damage }: SignedPackages['damaged'][number]): string =>
  `DAMAGED ${name} ${version} of project ${project}: ${damages[damage].replace('SHA256', sha256)}`

const stateOf = ({ isActive }: ListedKey): string => (isActive ? 'active' : 'verifies')

const asJson = (key: ListedKey): string =>
  JSON.stringify({
    key_id: key.keyId,
    state: stateOf(key),
    created_at: key.createdAt,
    activated_at: key.activatedAt,
    pilets: key.packages,
  })

function asTable(keys: readonly ListedKey[]): string[] {
  if (keys.length === 0) return []
  const rows = keys.map((key) => [
    key.keyId,
    stateOf(key),
    key.createdAt,
    key.activatedAt ?? '-',
    String(key.packages),
  ])
  return table(['KEY', 'STATE', 'CREATED', 'ACTIVATED', 'PILETS'], rows)
}

type SigningScope = {
  signing: Signing
  audit: Audit
  config: Config
  database: Database
}

/** Runs the work with the signing keys of the configured database. */
const withSigning = <T>(config: Config, work: (scope: SigningScope) => Promise<T>): Promise<T> =>
  withKeyedDatabase(config, (database) => {
    const { db, clock } = database
    const audit = createAudit(clock)
    const secrets = createSecrets(encryptionRing(config.masterKey, config.encryptionKeys))
    const lockMasterKey = createLockMasterKey(config.masterKey)
    return work({ signing: createSigning({ db, audit, secrets, lockMasterKey }), audit, config, database })
  })

async function signStored(
  scope: SigningScope,
  replacing: string | null,
  onPackage: (done: number) => void,
): Promise<SignedPackages> {
  // Only this command needs the blob stores, so only this command loads the world.
  const { blobStoresOf } = await import('../world.ts')
  const stores = blobStoresOf(scope.config, scope.database, silentLog)
  try {
    const { db } = scope.database
    return await createPackageSigning({ ...scope, db, stores })({ replacing, onPackage })
  } finally {
    await stores.close()
  }
}
