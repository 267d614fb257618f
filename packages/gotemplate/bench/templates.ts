// The templates of the benchmark. Each renders about 1 KB of JSON. The first template uses the whole
// language, the last uses only fields.

/** A template with its data. */
export interface Sample {
  readonly name: string
  readonly template: string
  readonly data: unknown
}

const order = `{
  "order": {
    "id": "{{.order.id}}",
    "customer": {
      "name": "{{.order.customer.name}}",
      "email": "{{.order.customer.email}}",
      {{- if .order.customer.vip }}
      "segment": "vip",
      {{- else if .order.customer.company }}
      "segment": "business",
      {{- else }}
      "segment": "private",
      {{- end }}
      "country": "{{ .order.customer.address.country }}"
    },
    "lines": [
      {{- range $i, $line := .order.lines }}
      {{- if $i }},{{ end }}
      {
        "position": {{ $i }},
        "sku": "{{ $line.sku }}",
        "quantity": {{ $line.quantity }},
        "price": {{ printf "%.2f" $line.price }},
        "tags": [{{ range $j, $tag := $line.tags }}{{ if $j }}, {{ end }}"{{ $tag }}"{{ end }}]
      }
      {{- end }}
    ],
    {{- with .order.shipping }}
    "shipping": { "method": "{{ .method }}", "cost": {{ printf "%.2f" .cost }} },
    {{- end }}
    "paid": {{ .order.paid }},
    "note": {{ if .order.note }}"{{ html .order.note }}"{{ else }}null{{ end }},
    "status": "{{ if eq .order.status "open" "new" }}active{{ else }}closed{{ end }}"
  }
}
`
const orderData = {
  order: {
    id: 'A-1001',
    customer: {
      name: 'Ada Lovelace',
      email: 'ada@example.org',
      vip: false,
      company: 'Analytical Engines',
      address: { country: 'GB' },
    },
    lines: [
      { sku: 'X-1', quantity: 3, price: 19.99, tags: ['a', 'b'] },
      { sku: 'X-2', quantity: 1, price: 5, tags: [] },
      { sku: 'Y-7', quantity: 12, price: 0.5, tags: ['bulk', 'blue', 'sale'] },
    ],
    shipping: { method: 'air', cost: 12.5 },
    paid: true,
    note: 'Leave at <door> & ring',
    status: 'open',
  },
}
const record = {
  id: 'A-1',
  name: 'Ada',
  vip: true,
  tags: ['a', 'b', 'c'],
  address: { city: 'London', zip: 'N1' },
}
const conditions = `{"id": "{{.id}}", "name": "{{.name}}", {{if .vip}}"segment": "vip"{{else}}"segment": "private"{{end}}, "tags": [{{range .tags}}"{{.}}",{{end}}null], "city": "{{.address.city}}"}\n`
const fields = `{"id": "{{.id}}", "name": "{{.name}}", "city": "{{.address.city}}", "zip": "{{.address.zip}}", "vip": {{.vip}}, "x": "{{.id}}-{{.name}}"}\n`

export const samples: readonly Sample[] = [
  { name: 'an order: variables, functions, trimming', template: order, data: orderData },
  { name: 'records: fields, if and range', template: conditions.repeat(6), data: record },
  { name: 'records: fields only', template: fields.repeat(8), data: record },
]
