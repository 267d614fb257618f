// The verdict on audit chains as exports and reports return it.
import { Type } from 'typebox'

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
const integerOrNull = (description: string) => nullable(Type.Integer({ description }))

export const chainSchema = Type.Object(
  {
    status: Type.Enum(['ok', 'broken', 'empty'], {
      description: '`ok` if the rows are unchanged, `empty` if the chain has no rows, otherwise `broken`.',
    }),
    entries: Type.Integer({ description: 'Number of verified rows.' }),
    from_seq: integerOrNull('Position of the first verified row; null if the verdict covers all chains.'),
    to_seq: integerOrNull('Position of the last verified row; null if the verdict covers all chains.'),
    head_hash: nullable(
      Type.String({ description: 'Hash of the last verified row; null if the verdict covers all chains.' }),
    ),
    first_broken_seq: integerOrNull('Position of the first row that fails verification.'),
    reason: nullable(
      Type.String({
        description: 'The reason why the chain is broken, or a note about rows that are not verified yet.',
      }),
    ),
    checkpoint: nullable(
      Type.Object({
        size: Type.Integer({
          description:
            'Number of rows of the chain that the checkpoint seals; for all chains, the number of the checkpoint.',
        }),
        hash: Type.String({
          description:
            'Hash of the last row that the checkpoint seals; for all chains, the hash of the checkpoint.',
        }),
        signature: Type.String({ description: 'Ed25519 signature, base64.' }),
        keyId: Type.String(),
        created_at: Type.String({ format: 'date-time' }),
      }),
    ),
    verified_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'AuditChain', description: 'Verification result for the chain of one project or for all chains.' },
)
