// Declares the objects of the demo: a flower wholesaler, Bloom, serves four customers with three applications.
import type { CreateEndpointInput, CreateTriggerInput } from '@manager/client/documents'

export const projectSlug = 'bloom'

export const tenants = [
  { slug: 'acme', name: 'Acme Hotels' },
  { slug: 'birch', name: 'Birch Cafés' },
  { slug: 'cedar', name: 'Cedar Clinics' },
  { slug: 'dune', name: 'Dune Resorts', deploymentMode: 'dedicated' },
] as const
export type TenantSlug = (typeof tenants)[number]['slug']

type ApplicationPlan = {
  slug: ApplicationSlug
  name: string
  description: string
  /** The tenants that have a row for the application, and whether it is enabled. */
  tenants: Partial<Record<TenantSlug, boolean>>
}
export type ApplicationSlug = 'shop' | 'deliveries' | 'billing'
export const applications: readonly ApplicationPlan[] = [
  {
    slug: 'shop',
    name: 'Shop',
    description: 'Customers order flowers here.',
    tenants: { acme: true, birch: true, cedar: true, dune: true },
  },
  {
    slug: 'deliveries',
    name: 'Deliveries',
    description: 'Tracks parcels and prints their labels.',
    tenants: { acme: true, birch: true, cedar: false, dune: true },
  },
  {
    slug: 'billing',
    name: 'Billing',
    description: 'Books invoices in the ledger.',
    tenants: { acme: true, cedar: true },
  },
]

export type MachineUserPlan = {
  key: string
  environment: 'dev' | 'qas' | 'run'
  name: string
  enabled?: boolean
  /** The age of the credential. */
  daysOld?: number
}
export const machineUsers = [
  { key: 'shop', environment: 'run', name: 'Shop backend', daysOld: 12 },
  { key: 'deliveries', environment: 'run', name: 'Deliveries backend', daysOld: 41 },
  { key: 'deliveries-qas', environment: 'qas', name: 'Deliveries backend', daysOld: 41 },
  { key: 'billing', environment: 'run', name: 'Billing backend', daysOld: 77 },
  { key: 'ledger', environment: 'run', name: 'Ledger import', daysOld: 413 },
  { key: 'load-test', environment: 'qas', name: 'Load test', enabled: false },
  { key: 'laptop', environment: 'dev', name: 'Noah’s laptop' },
] as const satisfies readonly MachineUserPlan[]
export type MachineUserKey = (typeof machineUsers)[number]['key']

export type EndpointPlan = {
  application: ApplicationSlug
  /** The machine users that may call the endpoint. */
  callers: readonly MachineUserKey[]
  /** The path at the demo partner. Endpoints without this path call partners that do not exist. */
  partnerPath?: string
  input: CreateEndpointInput
}
const labelTemplate = `<label id="{{.Data.parcel}}">
  <to>{{.Data.address}}</to>
  <weight unit="kg">{{.Data.weight}}</weight>
</label>`
export const endpoints: readonly EndpointPlan[] = [
  {
    application: 'shop',
    callers: ['shop', 'laptop'],
    partnerPath: '/stock',
    input: {
      name: 'Warehouse stock',
      description: 'Number of tulips in the stock of a tenant.',
      consumeURL: '/stock',
    },
  },
  {
    application: 'shop',
    callers: ['shop'],
    partnerPath: '/orders',
    input: {
      name: 'Warehouse orders',
      description: 'Reserves tulips for an order.',
      consumeURL: '/orders',
      logLevel: 'FULL',
    },
  },
  {
    application: 'shop',
    callers: ['shop'],
    input: {
      name: 'Card payments',
      description: 'Charges the card of a customer.',
      consumeURL: '/payments',
      url: 'https://payments.example/v2/charges',
      authType: 'Bearer',
      authToken: 'an example, not a credential',
    },
  },
  {
    application: 'deliveries',
    callers: ['deliveries', 'deliveries-qas'],
    input: {
      name: 'Parcel tracking',
      description: 'The last known place of a parcel.',
      consumeURL: '/tracking',
      url: 'https://parcels.example/api/tracking',
      authType: 'Basic',
      authUsername: 'bloom',
      authPassword: 'an example, not a credential',
    },
  },
  {
    application: 'deliveries',
    callers: ['deliveries'],
    input: {
      name: 'Parcel labels',
      description: 'Creates the label of a parcel.',
      consumeURL: '/labels',
      url: 'https://parcels.example/api/labels',
      inputMessageType: 'JSON',
      outputMessageType: 'XML',
      transformationTemplate: labelTemplate,
    },
  },
  {
    application: 'billing',
    callers: ['billing', 'ledger'],
    input: {
      name: 'Ledger invoices',
      description: 'Records an invoice.',
      consumeURL: '/invoices',
      url: 'https://ledger.example/invoices',
    },
  },
  {
    application: 'billing',
    callers: ['billing'],
    input: {
      name: 'Exchange rates',
      description: 'The rates of the central bank.',
      consumeURL: '/rates',
      url: 'https://rates.example/latest',
    },
  },
]

export type TriggerPlan = {
  application: ApplicationSlug
  /** The minutes between two runs. */
  everyMinutes: number
  environments: readonly MachineUserPlan['environment'][]
  input: CreateTriggerInput & { runKey: string }
}
const dayMinutes = 1_440
export const triggers: readonly TriggerPlan[] = [
  {
    application: 'shop',
    everyMinutes: 15,
    environments: ['run'],
    input: {
      name: 'Count the stock',
      description: 'Asks the warehouse for the stock of each tenant.',
      cronExpression: '*/15 * * * *',
      runKey: 'count-stock',
    },
  },
  {
    application: 'deliveries',
    everyMinutes: 30,
    environments: ['qas', 'run'],
    input: {
      name: 'Fetch tracking updates',
      description: 'Asks the carrier where the parcels are.',
      cronExpression: '*/30 * * * *',
      runKey: 'tracking',
    },
  },
  {
    application: 'deliveries',
    everyMinutes: dayMinutes,
    environments: ['run'],
    input: { name: 'Close the day', cronExpression: '0 0 * * *', runKey: 'close-day' },
  },
  {
    application: 'billing',
    everyMinutes: 360,
    environments: ['run'],
    input: { name: 'Import exchange rates', cronExpression: '0 */6 * * *', runKey: 'rates' },
  },
  {
    application: 'billing',
    everyMinutes: 60,
    environments: ['run'],
    input: { name: 'Book the invoices', cronExpression: '0 * * * *', runKey: 'invoices' },
  },
  {
    application: 'billing',
    everyMinutes: 0,
    environments: [],
    input: {
      name: 'Send payment reminders',
      cronExpression: '0 8 1 * *',
      runKey: 'reminders',
      enabled: false,
    },
  },
]

/** The key of the setting for the notice that Anna shows above the shop. */
export const noticeKey = 'shop.notice'

export const piletName = '@bloom/stock'
/** The versions of the pilet and their files in `examples/shell`. */
export const piletVersions = [
  { version: '1.0.0', file: 'stock-pilet.mjs', description: 'Shows the stock.' },
  { version: '1.1.0', file: 'order-pilet.mjs', description: 'Shows the stock and takes orders.' },
] as const
