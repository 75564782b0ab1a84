// Credentials stay in the page: they are forgotten when it is closed.

// An operation is found by any words of its path, method, names and descriptions.
const searchPlugin = () => ({
  fn: {
    opsFilter: (tags, phrase) => {
      const words = phrase.toLowerCase().split(/\s+/).filter((word) => word !== "");
      return tags
        .map((tag, name) => tag.set("operations", tag.get("operations").filter((operation) => {
          const of = (key) => operation.getIn(["operation", key]) || "";
          const text = [name, operation.get("path"), operation.get("method"), of("summary"), of("description"), of("operationId")]
            .join(" ").toLowerCase();
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
    throw new Error("not sent");
  }
  return request;
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
  showExtensions: true,
  tryItOutEnabled: false,
  validatorUrl: null,
});
