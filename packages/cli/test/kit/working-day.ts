// A working day of three people who use svc. The link of the first task names project, app and environment for the
// tasks that follow in the same folder.

export type Worker = 'maintainer' | 'operator' | 'auditor'
export type Task = {
  who: Worker
  task: string
  /** At most two command lines. The person answers questions with yes. */
  commands: readonly [string] | readonly [string, string]
  /** A text on the screen after the last command. */
  shows: RegExp
}

const link = 'svc link --project shop --app web --environment dev'

export const day: readonly Task[] = [
  {
    who: 'maintainer',
    task: 'choose the project for this folder',
    commands: [link],
    shows: /Linked .* to project shop/,
  },
  {
    who: 'maintainer',
    task: 'add a customer who can use the app',
    commands: ['svc tenants create globex --name Globex', 'svc apps enable web --tenant globex'],
    shows: /Enabled app web for tenant globex\./,
  },
  {
    who: 'maintainer',
    task: 'start with the settings of another customer',
    commands: ['svc settings copy -a web --from acme --to globex'],
    shows: /Copied the settings of app web from tenant acme to tenant globex\./,
  },
  {
    who: 'maintainer',
    task: 'change one setting of the project',
    commands: ['svc settings set mail.from=shop@example.com'],
    shows: /Updated settings of project shop\./,
  },
  {
    who: 'maintainer',
    task: 'find out where a setting comes from',
    commands: ['svc settings effective -t globex -a web'],
    shows: /frontend color +red +tenant2application/,
  },
  {
    who: 'maintainer',
    task: 'invite a colleague who has no account',
    commands: ['svc invitations create carl@example.com --role developer --link-file carl.link'],
    shows: /Invited carl@example\.com to project shop as developer\. The link is in carl\.link\./,
  },
  {
    who: 'maintainer',
    task: 'add a colleague who has an account',
    commands: ['svc members add ann@example.com --role developer', 'svc members list'],
    shows: /ann@example\.com +ann +ann@example\.com +developer/,
  },
  {
    who: 'maintainer',
    task: 'give the support of a customer a role',
    commands: [
      'svc roles create support -t globex --permissions apps.read',
      'svc members add ann@example.com -t globex --role support',
    ],
    shows: /Added ann@example\.com to tenant globex with the role support\./,
  },
  {
    who: 'maintainer',
    task: 'publish a new version of the cart',
    commands: ['svc pilets publish cart.js --as @shop/cart@1.0.0'],
    shows: /Published @shop\/cart@1\.0\.0/,
  },
  {
    who: 'maintainer',
    task: 'keep one customer on this version',
    commands: ['svc pilets pin @shop/cart@1.0.0 -t globex', 'svc pilets usage @shop/cart'],
    shows: /tenant +globex .*1\.0\.0/,
  },
  {
    who: 'maintainer',
    task: 'translate a text',
    commands: ['svc language-packs create de', 'svc language-packs set de cart.title=Warenkorb'],
    shows: /Changed 1 translation in language pack de\./,
  },
  {
    who: 'maintainer',
    task: 'save the project in a file, and check that nothing differs',
    commands: ['svc export > shop.yaml', 'svc diff -f shop.yaml'],
    shows: /\nend\w+-0/,
  },
  {
    who: 'operator',
    task: 'check the connection and the permissions',
    commands: [link, 'svc doctor'],
    shows: /permissions +ok/,
  },
  {
    who: 'operator',
    task: 'see which backends are live',
    commands: ['svc backends list'],
    shows: /dev .* true/,
  },
  {
    who: 'operator',
    task: 'find out why calls fail',
    commands: ['svc calls list --status failed', 'svc calls get --status failed'],
    shows: /\nfailure +\S+/,
  },
  {
    who: 'operator',
    task: 'check whether a partner responds again',
    commands: ['svc endpoints test orders --machine-user billing'],
    shows: /\nresponseStatus +200/,
  },
  {
    who: 'operator',
    task: 'stop a backend that calls too often',
    commands: ['svc endpoints block orders --machine-user billing', 'svc endpoints callers orders'],
    shows: /billing +false/,
  },
  {
    who: 'operator',
    task: 'replace a credential that leaked',
    commands: ['svc machine-users rotate billing --token-file billing.token'],
    shows: /Rotated the credential of machine user billing\./,
  },
  {
    who: 'operator',
    task: 'repeat a run that failed',
    commands: ['svc runs list nightly --outcome failed', 'svc runs retry nightly'],
    shows: /Started a retry of trigger nightly in dev/,
  },
  {
    who: 'operator',
    task: 'start a run outside of its schedule',
    commands: ['svc runs start weekly', 'svc runs list weekly'],
    shows: /dev +pending/,
  },
  {
    who: 'operator',
    task: 'pause a trigger during maintenance',
    commands: ['svc triggers update nightly --enabled false', 'svc triggers list'],
    shows: /nightly .*false/,
  },
  {
    who: 'operator',
    task: 'see what runs where, and whether it is ready',
    commands: ['svc deployments list', 'svc deployments status dev'],
    shows: /\nready +(true|false)/,
  },
  {
    who: 'auditor',
    task: 'see who has access to a project',
    commands: ['svc access who -p shop'],
    shows: /mia@example\.com/,
  },
  {
    who: 'auditor',
    task: 'see what one person can reach, and why',
    commands: ['svc access of ann@example.com'],
    shows: /project shop +developer/,
  },
  {
    who: 'auditor',
    task: 'see who created what',
    commands: ['svc audit list -p shop --filter action=create'],
    shows: /create/,
  },
  {
    who: 'auditor',
    task: 'verify that the audit trail is complete',
    commands: ['svc audit verify -p shop'],
    shows: /Verified \d+ entries of project shop\./,
  },
  {
    who: 'auditor',
    task: 'keep a copy of the audit trail',
    commands: ['svc audit export -p shop --file trail.ndjson'],
    shows: /Wrote trail\.ndjson\./,
  },
  {
    who: 'auditor',
    task: 'show who granted access to whom',
    commands: ['svc evidence list', 'svc evidence run access-grants'],
    shows: /\bann\b.*developer/,
  },
  {
    who: 'auditor',
    task: 'review all access, and record the decision',
    commands: [
      'svc review show --file review.json',
      'svc review attest review.json --decision approve --comment "Q4 review"',
    ],
    shows: /Attested \d+ entries\. Keep review\.json as evidence\./,
  },
  {
    who: 'auditor',
    task: 'stop the access of a person who left',
    commands: ['svc users deactivate dan@example.com'],
    shows: /Deactivated user dan@example\.com\./,
  },
]

/** The state before the day, as lines for the scene. */
export const morning = [
  'projects create shop --name Shop',
  'apps create web --name Web',
  'tenants create acme --name Acme',
  'apps enable web --tenant acme',
  'settings update -t acme -a web --frontend-pair color=red',
  'machine-users create billing --token-file @/first.token',
  'machine-users rotate billing --token-file @/rotated.token --yes',
  'endpoints create orders --consume-url /orders --target-url $partner --log-level FULL',
  'endpoints allow orders --machine-user billing',
  { arrange: 'breakPartner' },
  'endpoints test orders --machine-user billing --yes',
  { arrange: 'repairPartner' },
  'deployments create dev --workload shop/web --image web',
  'triggers create nightly --cron-expression @yearly',
  'triggers create weekly --cron-expression @yearly',
  { arrange: 'registerBackend' },
  'runs start nightly',
  { arrange: 'failRuns' },
]
