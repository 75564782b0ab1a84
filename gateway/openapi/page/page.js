// Credentials stay in the page, and are forgotten when it is closed.

// An operation is found by any words of its path, method, names, description and parameters.
const searchPlugin = ({ React }) => ({
  wrapComponents: {
    FilterContainer: () => ({ layoutSelectors, layoutActions }) => {
      const phrase = layoutSelectors.currentFilter();
      return React.createElement("div", { className: "filter wrapper" }, React.createElement("input", {
        className: "operation-filter-input",
        style: { maxWidth: "none", width: "100%" },
        "aria-label": "Filter",
        placeholder: "Filter by words of path, method, description or parameter",
        type: "text",
        value: typeof phrase === "string" ? phrase : "",
        onChange: (event) => layoutActions.updateFilter(event.target.value),
      }));
    },
  },
  fn: {
    opsFilter: (tags, phrase) => {
      const words = phrase.toLowerCase().split(/\s+/).filter((word) => word !== "");
      return tags
        .map((tag, name) => tag.set("operations", tag.get("operations").filter((operation) => {
          const of = (key) => operation.getIn(["operation", key]) || "";
          const parameters = (of("parameters") || []).map((parameter) => parameter.get("name"));
          const inputs = operation.getIn(["operation", "requestBody", "content", "application/json", "schema", "properties"]);
          const text = [name, operation.get("path"), operation.get("method"), of("summary"), of("description"), of("operationId"),
            ...parameters, ...(inputs ? inputs.keys() : [])].join(" ").toLowerCase();
          return words.every((word) => text.includes(word));
        })))
        .filter((tag) => tag.get("operations").size > 0);
    },
  },
});

// A token may be entered without the word Bearer. A change is confirmed before it is sent.
const intercept = (request) => {
  const token = request.headers["Auth-Token"];
  if (token && !token.includes(" ")) {
    request.headers["Auth-Token"] = "Bearer " + token;
  }
  const reads = ["GET", "HEAD"].includes((request.method || "GET").toUpperCase());
  if (!reads && !window.confirm("Send " + request.method.toUpperCase() + " " + decodeURIComponent(new URL(request.url, window.location).pathname) + "?")) {
    request.userFetch = () => Promise.reject(new Error("The request was not sent."));
  }
  return request;
};

// A body is empty until the person fills it in, even if the document requires some of its members. The sample
// of an operation is part of its description.
const adapt = async (response) => {
  if (new URL(response.url, window.location).pathname.endsWith("/openapi.json")) {
    const description = JSON.parse(response.text);
    const samples = await fetch("samples.json").then((answer) => answer.ok ? answer.json() : {}, () => ({}));
    for (const operation of Object.values(description.paths).flatMap(Object.values)) {
      const sample = samples[operation.operationId];
      if (sample) {
        operation.description = [operation.description, sample].filter(Boolean).join("\n\n");
      }
      for (const media of Object.values(operation.requestBody?.content ?? {})) {
        media.example = {};
      }
    }
    response.text = JSON.stringify(description);
  }
  return response;
};

window.ui = SwaggerUIBundle({
  url: "../openapi.json?dialect=standard",
  dom_id: "#swagger-ui",
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [searchPlugin],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  requestInterceptor: intercept,
  responseInterceptor: adapt,
  showExtensions: true,
  tryItOutEnabled: false,
  validatorUrl: null,
});
