// The documents GraphiQL opens with: what README.md and the first steps of docs/esb.md run. A test compares them with
// these pages. The name of an operation is the title of its tab, so here each has one.

export const graphiqlTabs: readonly { query: string }[] = [
  String.raw`# README.md. Run it with Ctrl-Enter.
mutation FirstProject {
  createProject(input: { name: "First", slug: "first" }) {
    slug
    environments {
      name
    }
  }
}
`,
  String.raw`# README.md
query Projects {
  projects {
    name
    slug
  }
}
`,
  String.raw`# docs/esb.md: a project with an application. The next tabs need the ids that are returned here.
mutation ShopProject {
  createProject(input: { name: "Shop", slug: "shop" }) {
    id
    environments {
      id
      name
    }
  }
}
`,
  String.raw`# docs/esb.md: replace <project> with its id.
mutation Application {
  createApplication(projectId: "<project>", input: { name: "Store", slug: "store" }) {
    id
  }
}
`,
  String.raw`# docs/esb.md: make the endpoint. Replace <application> with its id.
mutation Endpoint {
  createEndpoint(
    applicationId: "<application>"
    input: {
      name: "Orders"
      consumeURL: "/orders"
      url: "http://localhost:9000/api/orders"
      authType: Basic
      authUsername: "store"
      authPassword: "correct horse"
    }
  ) {
    id
    enabled
    logLevel
    authPassword
  }
}
`,
  String.raw`# docs/esb.md: make a machine user. Replace <environment> with the id of one of the project's.
mutation MachineUser {
  createMachineUserWithCredentials(
    environmentId: "<environment>"
    input: { name: "backend of the Store", hashedKey: "__GENERATE_TOKEN__" }
  ) {
    generatedToken
    machineUser {
      id
    }
  }
}
`,
  String.raw`# docs/esb.md: let it call.
mutation Access {
  createMachineUser2Endpoint(input: { machineUserID: "<machine user>", endpointID: "<endpoint>" }) {
    id
    enabled
  }
}
`,
  String.raw`# docs/esb.md: look at the log.
query Calls {
  esbAuditLogs(applicationId: "<application>", endpointId: "<endpoint>", limit: 10) {
    timestamp
    machineUser {
      name
    }
    sourceIP
    method
    path
    targetURL
    responseStatus
    failure
    transformationApplied
    requestBody
  }
}
`,
  String.raw`# docs/esb.md: try a template.
mutation Preview {
  previewESBTransform(
    endpointId: "<endpoint>"
    input: {
      body: """
      {"id": "o-1", "buyer": {"name": "Ada \"the first\""}}
      """
      transformationTemplate: """
      {"reference": {{toJson .Data.id}}, "customer": {{toJson .Data.buyer.name}}, "from": "{{.Application.Slug}}"}
      """
    }
  ) {
    output
    contentType
  }
}
`,
  String.raw`# docs/esb.md: what a template lacks.
mutation Warnings {
  previewESBTransform(
    endpointId: "<endpoint>"
    input: { body: "{}", transformationTemplate: "{\"reference\": {{toJson .Data.di}}}" }
  ) {
    output
    warnings {
      message
      line
      column
    }
  }
}
`,
  String.raw`# docs/esb.md: use it.
mutation Template {
  updateEndpoint(
    id: "<endpoint>"
    input: {
      inputMessageType: JSON
      transformationTemplate: """
      {"reference": {{toJson .Data.id}}, "customer": {{toJson .Data.buyer.name}}, "from": "{{.Application.Slug}}"}
      """
    }
  ) {
    id
  }
}
`,
].map((query) => ({ query }))
