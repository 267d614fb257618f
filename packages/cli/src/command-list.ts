// Lists every command, in the order of `svc --help`. A start loads only the files of the commands that the command line
// names, because loading all of them takes several times as long.
import type { Command } from 'commander'
import type { Resource } from './resource.ts'
import type { Terminal } from './terminal.ts'

type AddCommand = (parent: Command, terminal: Terminal) => void
export type CommandEntry = {
  /** The name of the command, then its aliases. */
  names: readonly [string, ...string[]]
  topic: Topic
  /** Loads the command. Returns the function that adds it to the program. */
  load: () => Promise<AddCommand>
}
export const topics = [
  'Account',
  'Objects',
  'Frontends',
  'Backends',
  'People',
  'Audit',
  'Files',
  'Help',
] as const
type Topic = (typeof topics)[number]

/** Loads the commands of a resource. `more` adds commands that only this resource has. */
async function loadResource(definition: Promise<Resource>, more?: Promise<AddCommand>): Promise<AddCommand> {
  const [{ addResourceCommands }, resource, addMore] = await Promise.all([
    import('./resource-commands.ts'),
    definition,
    more,
  ])
  return (program, terminal) => {
    const group = addResourceCommands(program, terminal, resource)
    addMore?.(group, terminal)
  }
}

const account: CommandEntry[] = [
  {
    names: ['login'],
    topic: 'Account',
    load: async () => (await import('./commands/sign-in.ts')).addLoginCommand,
  },
  {
    names: ['logout'],
    topic: 'Account',
    load: async () => (await import('./commands/sign-in.ts')).addLogoutCommand,
  },
  {
    names: ['link'],
    topic: 'Account',
    load: async () => (await import('./commands/link.ts')).addLinkCommand,
  },
  {
    names: ['whoami'],
    topic: 'Account',
    load: async () => (await import('./commands/whoami.ts')).addWhoamiCommand,
  },
  {
    names: ['tokens', 'token'],
    topic: 'Account',
    load: () =>
      loadResource(
        import('./resources/tokens.ts').then(({ tokens }) => tokens),
        import('./commands/tokens.ts').then(({ addTokenCommands }) => addTokenCommands),
      ),
  },
  {
    names: ['notifications', 'notification'],
    topic: 'Account',
    load: async () => (await import('./commands/notifications.ts')).addNotificationCommands,
  },
]

const objects: CommandEntry[] = [
  {
    names: ['projects', 'project'],
    topic: 'Objects',
    load: () => loadResource(import('./resources/projects.ts').then(({ projects }) => projects)),
  },
  {
    names: ['tenants', 'tenant'],
    topic: 'Objects',
    load: () => loadResource(import('./resources/tenants.ts').then(({ tenants }) => tenants)),
  },
  {
    names: ['apps', 'app', 'applications', 'application'],
    topic: 'Objects',
    load: () =>
      loadResource(
        import('./resources/apps.ts').then(({ apps }) => apps),
        import('./commands/apps.ts').then(({ addAppCommands }) => addAppCommands),
      ),
  },
  {
    names: ['environments', 'environment'],
    topic: 'Objects',
    load: () => loadResource(import('./resources/environments.ts').then(({ environments }) => environments)),
  },
  {
    names: ['settings'],
    topic: 'Objects',
    load: async () => {
      const [{ addSettingsCommands }, { addSettingsKeyCommands }] = await Promise.all([
        import('./commands/settings.ts'),
        import('./commands/settings-keys.ts'),
      ])
      return (program, terminal) => addSettingsKeyCommands(addSettingsCommands(program, terminal), terminal)
    },
  },
  {
    names: ['search'],
    topic: 'Objects',
    load: async () => (await import('./commands/search.ts')).addSearchCommand,
  },
]

const frontends: CommandEntry[] = [
  {
    names: ['pilets', 'pilet'],
    topic: 'Frontends',
    load: () =>
      loadResource(
        import('./resources/pilets.ts').then(({ pilets }) => pilets),
        Promise.all([import('./commands/pilets.ts'), import('./commands/pilet-pins.ts')]).then(
          ([{ addPiletCommands }, { addPiletPinCommands }]) =>
            (group, terminal) => {
              addPiletCommands(group, terminal)
              addPiletPinCommands(group, terminal)
            },
        ),
      ),
  },
  {
    names: ['language-packs', 'language-pack'],
    topic: 'Frontends',
    load: () =>
      loadResource(
        import('./resources/language-packs.ts').then(({ languagePacks }) => languagePacks),
        import('./commands/language-packs.ts').then(({ addLanguagePackCommands }) => addLanguagePackCommands),
      ),
  },
]

const backends: CommandEntry[] = [
  {
    names: ['backends', 'backend'],
    topic: 'Backends',
    load: async () => (await import('./commands/backends.ts')).addBackendCommands,
  },
  {
    names: ['deployments', 'deployment'],
    topic: 'Backends',
    load: () =>
      loadResource(
        import('./resources/deployments.ts').then(({ deployments }) => deployments),
        import('./commands/deployments.ts').then(({ addDeploymentCommands }) => addDeploymentCommands),
      ),
  },
  {
    names: ['machine-users', 'machine-user'],
    topic: 'Backends',
    load: () =>
      loadResource(
        import('./resources/machine-users.ts').then(({ machineUsers }) => machineUsers),
        import('./commands/machine-users.ts').then(({ addMachineUserCommands }) => addMachineUserCommands),
      ),
  },
  {
    names: ['endpoints', 'endpoint'],
    topic: 'Backends',
    load: () =>
      loadResource(
        import('./resources/endpoints.ts').then(({ endpoints }) => endpoints),
        Promise.all([import('./commands/endpoint-callers.ts'), import('./commands/endpoint-test.ts')]).then(
          ([{ addEndpointCallerCommands }, { addEndpointTestCommand }]) =>
            (group, terminal) => {
              addEndpointCallerCommands(group, terminal)
              addEndpointTestCommand(group, terminal)
            },
        ),
      ),
  },
  {
    names: ['esb'],
    topic: 'Backends',
    load: async () => (await import('./commands/esb.ts')).addEsbCommands,
  },
  {
    names: ['calls', 'call'],
    topic: 'Backends',
    load: async () => (await import('./commands/calls.ts')).addCallCommands,
  },
  {
    names: ['triggers', 'trigger'],
    topic: 'Backends',
    load: () =>
      loadResource(
        import('./resources/triggers.ts').then(({ triggers }) => triggers),
        import('./commands/triggers.ts').then(({ addTriggerCommands }) => addTriggerCommands),
      ),
  },
  {
    names: ['runs', 'run'],
    topic: 'Backends',
    load: async () => (await import('./commands/runs.ts')).addRunCommands,
  },
]

const people: CommandEntry[] = [
  {
    names: ['users', 'user'],
    topic: 'People',
    load: () =>
      loadResource(
        import('./resources/users.ts').then(({ users }) => users),
        import('./commands/users.ts').then(({ addUserCommands }) => addUserCommands),
      ),
  },
  {
    names: ['members', 'member'],
    topic: 'People',
    load: async () => (await import('./commands/members.ts')).addMemberCommands,
  },
  {
    names: ['roles', 'role'],
    topic: 'People',
    load: () => loadResource(import('./resources/roles.ts').then(({ roles }) => roles)),
  },
  {
    names: ['invitations', 'invitation'],
    topic: 'People',
    load: async () => (await import('./commands/invitations.ts')).addInvitationCommands,
  },
  {
    names: ['access'],
    topic: 'People',
    load: async () => (await import('./commands/access.ts')).addAccessCommands,
  },
  {
    names: ['groups', 'group'],
    topic: 'People',
    load: () =>
      loadResource(
        import('./resources/groups.ts').then(({ groups }) => groups),
        import('./commands/groups.ts').then(({ addGroupCommands }) => addGroupCommands),
      ),
  },
  {
    names: ['scim-tokens', 'scim-token'],
    topic: 'People',
    load: () =>
      loadResource(
        import('./resources/scim-tokens.ts').then(({ scimTokens }) => scimTokens),
        import('./commands/scim-tokens.ts').then(({ addScimTokenCommands }) => addScimTokenCommands),
      ),
  },
]

const auditing: CommandEntry[] = [
  {
    names: ['audit'],
    topic: 'Audit',
    load: async () => {
      const [{ addAuditCommands }, { addAuditVerifyCommand }] = await Promise.all([
        import('./commands/audit.ts'),
        import('./commands/audit-verify.ts'),
      ])
      return (program, terminal) => addAuditVerifyCommand(addAuditCommands(program, terminal), terminal)
    },
  },
  {
    names: ['evidence'],
    topic: 'Audit',
    load: async () => (await import('./commands/evidence.ts')).addEvidenceCommands,
  },
  {
    names: ['review'],
    topic: 'Audit',
    load: async () => (await import('./commands/review.ts')).addReviewCommands,
  },
]

const files: CommandEntry[] = [
  {
    names: ['apply'],
    topic: 'Files',
    load: async () => (await import('./commands/apply.ts')).addApplyCommand,
  },
  {
    names: ['diff'],
    topic: 'Files',
    load: async () => (await import('./commands/diff.ts')).addDiffCommand,
  },
  {
    names: ['export'],
    topic: 'Files',
    load: async () => (await import('./commands/export.ts')).addExportCommand,
  },
  {
    names: ['api'],
    topic: 'Files',
    load: async () => (await import('./commands/api.ts')).addApiCommand,
  },
]

const help: CommandEntry[] = [
  {
    names: ['doctor'],
    topic: 'Help',
    load: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
  },
]

/** Every command except `help` and `completion`, which are in program.ts because they need all others. */
export const commandEntries: readonly CommandEntry[] = [
  ...account,
  ...objects,
  ...frontends,
  ...backends,
  ...people,
  ...auditing,
  ...files,
  ...help,
]
