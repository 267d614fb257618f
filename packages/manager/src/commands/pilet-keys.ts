import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { type SignedPackages, createPackageSigning } from '../features/pilets/sign-packages.service.ts'
import { type Signing, createSigning } from '../features/pilets/signing.service.ts'
import type { ListedKey } from '../features/pilets/signing.store.ts'
import { type Audit, createAudit } from '../platform/audit/append.ts'
import type { Database } from '../platform/postgres/database.ts'
import { createEncryptionRing } from '../platform/secrets/keys.ts'
import { createMasterKeyLock } from '../platform/secrets/master-key.ts'
import { createSecrets } from '../platform/secrets/secrets.ts'
import { loadCommandConfig, silentLog, withKeyedDatabase } from './context.ts'
import { formatQuantity, formatTableLines } from './table.ts'
import type { Terminal } from './terminal.ts'

/** Adds the `manager pilet-keys` commands. */
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

const formatExamples = (...lines: string[]): string =>
  `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  $ ${line}`).join('\n')}`

function addCreateCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('create')
    .description(
      'Create a key. It signs after activation; the first key of an installation is active immediately.',
    )
    .addHelpText('after', formatExamples('npm run manager -- pilet-keys create'))
    .action(async (_options, command: Command) => {
      const { keyId, isActive } = await withSigning(loadCommandConfig(terminal, command), ({ signing }) =>
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
        terminal.say(`When all pages have the key, run \`manager pilet-keys activate ${keyId}\`.`)
    })
}

function addListCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('list')
    .description(
      'List the keys, oldest first, each with its state, its activation time and the number of signed pilets.',
    )
    .option('--json', 'print one JSON object per key instead of a table')
    .addHelpText(
      'after',
      formatExamples(
        'npm run manager -- pilet-keys list',
        'npm run --silent manager -- pilet-keys list --json',
      ),
    )
    .action(async (options: { json?: boolean }, command: Command) => {
      const [listedKeys, { unsigned, unstated }] = await withSigning(
        loadCommandConfig(terminal, command),
        async ({ signing }) => [await signing.list(), await signing.countUnsigned()],
      )
      const lines = options.json === true ? listedKeys.map(formatJson) : formatTable(listedKeys)
      for (const line of lines) terminal.say(line)
      // Print warnings to standard error, because --json must keep standard output machine-readable.
      if (listedKeys.length === 0) terminal.warn('No key exists yet. The first upload creates one.')
      if (unsigned > 0)
        terminal.warn(
          `${formatPilets(unsigned)} no signature. Sign ${unsigned === 1 ? 'it' : 'them'} with \`manager pilet-keys sign\`.`,
        )
      if (unstated > 0)
        terminal.warn(
          `${formatPilets(unstated)} no statement. Create the missing ${unstated === 1 ? 'statement' : 'statements'} with \`manager pilet-keys sign\`.`,
        )
    })
}

const formatPilets = (count: number): string => (count === 1 ? '1 pilet has' : `${count} pilets have`)

function addActivateCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('activate')
    .description('Activate a key. The previous key stays available to verify earlier signatures.')
    .argument('<key-id>', 'id of the key, as printed by `manager pilet-keys list`')
    .addHelpText(
      'after',
      `
Pages reject signatures of unknown keys: export the key and deploy it to your pages first.
${formatExamples('npm run manager -- pilet-keys activate 3f2a9c0d81b7e654')}`,
    )
    .action(async (keyId: string, _options, command: Command) => {
      const isChanged = await withSigning(loadCommandConfig(terminal, command), ({ signing }) =>
        signing.activate(keyId),
      )
      terminal.say(isChanged ? `${keyId} is now active.` : `${keyId} is already active.`)
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
${formatExamples('npm run --silent manager -- pilet-keys export > pilet-signing-keys.json')}`,
    )
    .action(async (options: { pretty?: boolean }, command: Command) => {
      const publicKeys = await withSigning(loadCommandConfig(terminal, command), ({ signing }) =>
        signing.publicKeys(),
      )
      if (Object.keys(publicKeys).length === 0)
        throw new Error('there is no key to export; create the first one with `manager pilet-keys create`')
      // Write directly, because `say` would escape the line breaks of --pretty.
      terminal.stdout.write(`${JSON.stringify(publicKeys, null, options.pretty === true ? 2 : undefined)}\n`)
    })
}

function addSignCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('sign')
    .description(
      'Sign stored pilets without a signature or statement with the active key. Safe to repeat at any time.',
    )
    .option('--replacing <key-id>', 'sign the pilets again that were signed with this key')
    .addHelpText(
      'after',
      `
Exits 1 and lists the pilets if stored bytes are damaged or do not match their signature.
${formatExamples('npm run manager -- pilet-keys sign', 'npm run manager -- pilet-keys sign --replacing 3f2a9c0d81b7e654')}`,
    )
    .action(async ({ replacing = null }: { replacing?: string | null }, command: Command) => {
      const { signedCount, damagedPackages } = await withSigning(
        loadCommandConfig(terminal, command),
        (scope) => signStored(scope, replacing, (done) => terminal.progress(`\rpilets ${done}`)),
      )
      terminal.progress('\n')
      terminal.say(`Signed ${formatQuantity(signedCount, 'pilet')}.`)
      for (const damagedPackage of damagedPackages) terminal.warn(formatDamage(damagedPackage))
      if (damagedPackages.length === 0) return
      terminal.warn('These pilets were not signed. Upload them again under a new version.')
      terminal.exitCode = 1
    })
}

function addDeleteCommand(keys: Command, terminal: Terminal): void {
  keys
    .command('delete')
    .description('Delete a key that is not active and has signed no pilet. This cannot be undone.')
    .argument('<key-id>', 'id of the key, as printed by `manager pilet-keys list`')
    .addHelpText('after', formatExamples('npm run manager -- pilet-keys delete 3f2a9c0d81b7e654'))
    .action(async (keyId: string, _options, command: Command) => {
      await withSigning(loadCommandConfig(terminal, command), ({ signing }) => signing.remove(keyId))
      terminal.say(`Deleted ${keyId}. Export the keys again and deploy them to your pages.`)
    })
}

const damageTexts = {
  bytes: 'the stored bytes SHA256 are missing or incomplete',
  signature: 'the signature does not match the stored bytes',
  statement:
    'the stored bytes look like a signing statement, so their signature could be misused for another pilet',
}
const formatDamage = ({
  project,
  name,
  version,
  sha256,
  damage,
}: SignedPackages['damagedPackages'][number]): string =>
  `DAMAGED ${name} ${version} of project ${project}: ${damageTexts[damage].replace('SHA256', sha256)}`

const formatState = ({ isActive }: ListedKey): string => (isActive ? 'active' : 'verifies')

const formatJson = (key: ListedKey): string =>
  JSON.stringify({
    key_id: key.keyId,
    state: formatState(key),
    created_at: key.createdAt,
    activated_at: key.activatedAt,
    pilets: key.packages,
  })

function formatTable(keys: readonly ListedKey[]): string[] {
  if (keys.length === 0) return []
  const rows = keys.map((key) => [
    key.keyId,
    formatState(key),
    key.createdAt,
    key.activatedAt ?? '-',
    String(key.packages),
  ])
  return formatTableLines(['KEY', 'STATE', 'CREATED', 'ACTIVATED', 'PILETS'], rows)
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
    const secrets = createSecrets(createEncryptionRing(config.masterKey, config.encryptionKeys))
    const lockMasterKey = createMasterKeyLock(config.masterKey)
    return work({ signing: createSigning({ db, audit, secrets, lockMasterKey }), audit, config, database })
  })

async function signStored(
  scope: SigningScope,
  keyToReplace: string | null,
  onPackage: (done: number) => void,
): Promise<SignedPackages> {
  // Import this module only here: no other command needs the blob stores.
  const { createConfiguredBlobStores } = await import('../world.ts')
  const stores = createConfiguredBlobStores(scope.config, scope.database, silentLog)
  try {
    const { db } = scope.database
    return await createPackageSigning({ ...scope, db, stores })({ keyToReplace, onPackage })
  } finally {
    await stores.close()
  }
}
