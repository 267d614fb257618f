// The command `audit verify`, which verifies the hashes of the audit trail of a project.
import { type Connection, graphql } from '@manager/client'
import { getAuditChainDocument, verifyAuditChainDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { printResult, printRow } from '../output.ts'
import { type ParentOptions, addParentOptions, getProject } from '../parents.ts'
import { formatCount } from '../words.ts'
import type { Terminal } from '../terminal.ts'

export function addAuditVerifyCommand(group: Command, terminal: Terminal): void {
  const verify = addCommand(group, {
    name: 'verify',
    description:
      'Verify every entry in the audit trail of a project now. The command exits with 1 if the trail is broken.',
    examples: ['audit verify -p shop'],
  })
  setAction<ParentOptions>(addParentOptions(verify, 'project'), terminal, async (context, _args, options) => {
    const connection = await context.connect()
    const project = await getProject(context, connection, options)
    const { status, entries, toSeq, headHash } = await verifyChain(context, connection, project.id)
    const sentence =
      status === 'empty'
        ? `The audit trail of project ${project.slug} is empty.`
        : `Verified ${formatCount(entries, 'entry', 'entries')} of project ${project.slug}. The last hash is ${headHash}.`
    printResult(terminal, context.format, sentence, { status, entries, toSeq, headHash })
  })
  const status = addCommand(group, {
    name: 'status',
    description: 'Show how far the Manager has verified the audit trail of a project.',
    examples: ['audit status -p shop'],
  })
  setAction<ParentOptions>(addParentOptions(status, 'project'), terminal, async (context, _args, options) => {
    const connection = await context.connect()
    const project = await getProject(context, connection, options)
    const variables = { projectId: project.id }
    const { auditChain } = await graphql(connection, getAuditChainDocument, variables, context)
    printRow(terminal, context.format, auditChain)
  })
}

/** Verifies the chain in parts, because the Manager limits the number of rows per request. */
async function verifyChain({ signal }: Context, connection: Connection, projectId: string) {
  for (let [fromSeq, entries] = [1, 0]; ;) {
    const variables = { projectId, fromSeq }
    const result = await graphql(connection, verifyAuditChainDocument, variables, { signal })
    const part = result.verifyAuditChain
    entries += part.entries
    if (part.status === 'broken')
      throw new Failure(
        'failed',
        `The audit trail is broken at entry ${part.firstBrokenSeq}: ${part.reason}. Inform the operator, and keep an export: svc audit export --file trail.ndjson`,
      )
    if (part.isComplete || part.toSeq === null)
      return { status: part.status, entries, toSeq: part.toSeq, headHash: part.headHash }
    fromSeq = part.toSeq + 1
  }
}
