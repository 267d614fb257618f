// The commands of `deployments` that resolve an environment: create, wake and status.
import { type Connection, graphql } from '@manager/client'
import { getDeploymentReadinessDocument, wakeDeploymentDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { addFieldOptions, readValues } from '../field-options.ts'
import { type Row, printResult, printRow } from '../output.ts'
import { type ParentOptions, addParentOptions, getParent } from '../parents.ts'
import { createDeployment, deployments } from '../resources/deployments.ts'
import { createRow } from '../rows.ts'
import type { Terminal } from '../terminal.ts'

const environmentArgument = ['<environment>', 'the environment: dev, qas or run'] as const
const example = (name: string): string => `deployments ${name} dev -p shop -a web`

export function addDeploymentCommands(group: Command, terminal: Terminal): void {
  addCreateCommand(group, terminal)
  const wake = addCommand(group, {
    name: 'wake',
    description: 'Raise the replicas of an app in an environment to at least one.',
    examples: [example('wake')],
  }).argument(...environmentArgument)
  setAction<ParentOptions>(addParentOptions(wake, 'app'), terminal, async (context, [name = ''], options) => {
    const { connection, variables } = await getDeploymentKey(context, name, options)
    const result = await graphql(connection, wakeDeploymentDocument, variables, { signal: context.signal })
    const { alreadyAwake, minReplicas } = result.wakeDeployment
    const sentence = alreadyAwake
      ? `The deployment in ${name} is already awake.`
      : `Raised the replicas in ${name} to ${minReplicas}. To see when it is ready, run: svc deployments status ${name}`
    printResult(terminal, context.format, sentence, result.wakeDeployment)
  })
  const status = addCommand(group, {
    name: 'status',
    description: 'Show whether an app has live backends in an environment.',
    examples: [example('status')],
  }).argument(...environmentArgument)
  setAction<ParentOptions>(
    addParentOptions(status, 'app'),
    terminal,
    async (context, [name = ''], options) => {
      const { connection, variables } = await getDeploymentKey(context, name, options)
      const signal = { signal: context.signal }
      const result = await graphql(connection, getDeploymentReadinessDocument, variables, signal)
      printRow(terminal, context.format, result.deploymentReadiness)
    },
  )
}

/** Returns the ids of the app and the environment. */
async function getDeploymentKey(
  context: Context,
  environment: string,
  options: ParentOptions,
): Promise<{ connection: Connection; variables: { applicationId: string; environmentId: string } }> {
  const connection = await context.connect()
  const app = await getParent(context, connection, 'app', options)
  const row = await getParent(context, connection, 'environment', { ...options, environment })
  return { connection, variables: { applicationId: app?.id ?? '', environmentId: row?.id ?? '' } }
}

function addCreateCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'create',
    description: 'Create the deployment of an app in an environment.',
    examples: [`deployments create ${deployments.example ?? ''} -p shop -a web`],
  }).argument(...environmentArgument)
  addParentOptions(command, 'app')
  addFieldOptions(command, deployments, 'create')
  setAction<ParentOptions & Row>(command, terminal, async (context, [environment = ''], options) => {
    const fields = await readValues(deployments, 'create', options)
    const { connection, variables } = await getDeploymentKey(context, environment, options)
    const values = { ...fields, environmentId: variables.environmentId }
    const resource = { ...deployments, create: createDeployment }
    const change = { values, signal: context.signal }
    const { row } = await createRow(connection, resource, { id: variables.applicationId }, change)
    const sentence = `Created deployment ${environment} (${String(row['id'])}).`
    printResult(terminal, context.format, sentence, row)
  })
}
